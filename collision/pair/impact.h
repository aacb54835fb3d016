// Time of impact of one pair under constant twists.
#pragma once

#include "narrow.h"
#include "sdf_pair.h"

// How a geometry moves in one step.
typedef struct TriboMotion {
  double origin[3];  // of its body at the start [m]
  TriboTwist twist;  // constant over the step, at the moving origin [m/s, rad/s]
  double offset;     // of the geometry's middle from the origin [m]
  double reach;      // of the geometry from its own middle [m]
  double spin;       // part of the angular speed that changes the place of its surface: none for a sphere, what is
                     // across the axis for a body of revolution [rad/s]
} TriboMotion;

// Bound of the speed at which turning moves the surface.
static inline double tribo_col_turning_speed(const TriboMotion* motion) {
  return motion->offset * tribo_norm3(motion->twist.w) + motion->reach * motion->spin;
}

// Where the free motion first brings a and b within `touch` of each other. m brings the manifold at the start, within
// all that the step can reach. *hit 0: nowhere in the step. Otherwise m holds the manifold of that moment, carried
// back: points on the surfaces at the start, the normal of the impact, gaps at the start along that normal.
TRIBO_NODISCARD TriboStatus tribo_col_impact(TriboCoalQuery* query, const TriboSolid* a, const TriboMotion* motion_a,
                                             const TriboSolid* b, const TriboMotion* motion_b, double h, double touch,
                                             double margin, TriboManifold* m, int* hit);

// The same for a pair with a distance field, of which nothing is within the margin at the start: what lies within the
// margin of each other then. The points belong to `work`; their gaps are without contact offsets, `offset` is their
// sum.
TRIBO_NODISCARD TriboStatus tribo_col_sdf_impact(TriboSdfWork* work, const TriboSolid* a, const TriboMotion* motion_a,
                                                 const TriboSolid* b, const TriboMotion* motion_b, double h,
                                                 double offset, double margin, TriboColPoint** points, int* count,
                                                 int* hit);
