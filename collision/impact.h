// Time of impact of one pair under constant twists.
#pragma once

#include "manifold.h"

// How a geometry moves in one step.
typedef struct TriboMotion {
  double origin[3];  // of its body at the start
  TriboTwist twist;  // constant over the step, at the moving origin
  double radius;     // of a ball about the origin that holds the geometry
} TriboMotion;

// Where the free motion first brings a and b within `touch` of each other. *hit 0: nowhere in the step.
// Otherwise m holds the manifold of that moment, carried back: points on the surfaces at the start, the normal of the
// impact, gaps at the start along that normal.
TRIBO_NODISCARD TriboStatus tribo_col_impact(TriboCoalQuery* query, const TriboSolid* a, const TriboMotion* motion_a,
                                             const TriboSolid* b, const TriboMotion* motion_b, double h, double touch,
                                             double margin, TriboManifold* m, int* hit);
