// Signed distance fields inside the room. A field is a tree of nodes: leaves with a distance of their own, and unions,
// intersections, differences and offsets of them. With it come what contacts are looked for with (a cloud of samples of
// its surface), what it weighs and how it is drawn.
//
//   φ(x) < 0 inside, |φ(x) − φ(y)| ≤ Lip ‖x − y‖, φ and ∇φ exact at the surface wherever that is smooth
#pragma once

#include "collision.h"
#include "math3.h"
#include "pose.h"

// Leaves that only geometries of other kinds become.
enum { TRIBO_SDF_HULL = TRIBO_SDF_COUNT };

// A thread's numbers, made once from its def.
typedef struct SdfThread {
  double pitch, lead;  // from crest to crest; along z per radian, negative for a left hand [m, m/rad]
  double crest, root;  // radii of the profile before it is grown [m]
  double grow;         // [m]
  double half;         // half its length; INFINITY: endless [m]
  double flank[2];     // unit normal of the flank in the section (r, ζ), ζ > 0
} SdfThread;

typedef struct SdfNode {
  int kind;                // TriboSdfKind or TRIBO_SDF_HULL
  int is_posed;            // 0: the pose is the identity
  TriboPose pose;          // in the frame of the node above
  double half[3], radius;  // as of a TriboSolid; PRISM: half[0] is half a side, the radius that to a flat
  double round;            // radius of its edges
  int sides;               // PRISM
  SdfThread thread;        // THREAD
  double* profile;         // REVOLVED: (nprofile × 2); PRISM: normals of its sides. Owned by the field
  double* scale;           // REVOLVED: (nprofile − 1) 1/length² of its segments
  int nprofile;
  double pad;                 // REVOLVED
  double by;                  // OFFSET
  const TriboHull* hull;      // HULL
  int first, count;           // its parts among the nodes
  int is_outside, is_inside;  // 1: φ is the distance there, not only a bound
  double low[3], high[3];     // bounds in its own frame
} SdfNode;

// Along what a sample may be moved to where it is deepest: nothing, a screw line (straight, circle, helix), or the
// surface.
typedef enum SdfSlide { SDF_STAYS, SDF_ALONG_LINE, SDF_ALONG_SURFACE } SdfSlide;

// Straight along `axis`, or turned about the axis through `origin` and led along it [m/rad].
typedef struct SdfCurve {
  double origin[3], axis[3], lead;
  int is_straight;
} SdfCurve;

// A point of the surface, fixed in the body.
typedef struct SdfSample {
  double x[3];     // in the frame of the field [m]
  double n[3];     // outward normal there, of an edge or a corner the middle of those around it
  double facing;   // contacts have their normals within this cosine of it; 0 with n = 0: any
  double radius;   // the surface is this far around it: centre of a sphere, axis of a capsule [m]
  double spacing;  // to its neighbours [m]
  int curve;       // SDF_ALONG_LINE: which
  int slide;       // SdfSlide
  int cell;        // of the reduction
} SdfSample;

// A node of the tree of balls over the samples.
typedef struct SdfBall {
  double centre[3], radius;  // of a ball that holds the surface points of its samples [m]
  int first, last;           // samples
  int skip;                  // the next ball that is not below this one
} SdfBall;

struct TriboSdf {
  SdfNode* nodes;  // (nnode) the root first
  int nnode;
  double lip;                                         // Lipschitz bound of φ
  double low[3], high[3], centre[3], half[3], reach;  // bounds; radius of a ball about the origin [m]
  double size;                                        // largest extent [m]
  SdfSample* samples;
  SdfCurve* curves;
  SdfBall* balls;
  int nsample, ncurve, nball, ncell;
  int has_thread;  // 1: among its nodes
  int contacts;    // most contacts of a pair
  double margin;   // its contacts are made this far ahead of touching [m]
  double* points;  // its surface, for drawing: (npoint × 3), (ntriangle × 3)
  int* triangles;
  int npoint, ntriangle;
};

// φ and ∇φ of a node, in the frame of the node above it; of the root: in the field's.
double tribo_col_sdf_node(const TriboSdf* sdf, const SdfNode* node, const double x[3], double gradient[3]);
static inline double tribo_col_sdf_value(const TriboSdf* sdf, const double x[3], double gradient[3]) {
  return tribo_col_sdf_node(sdf, sdf->nodes, x, gradient);
}

// A thread of endless length and its helices (sdf_thread.c).
SdfThread tribo_col_sdf_thread_of(const TriboSdfDef* def);
double tribo_col_sdf_thread(const SdfThread* thread, const double x[3], double gradient[3]);
// Radius of its solid at a place of the section.
double tribo_col_sdf_thread_edge(const SdfThread* thread, double zeta);

// The field of a solid of another kind, with its samples: contacts against fields need both.
TRIBO_NODISCARD TriboStatus tribo_col_sdf_of_geom(const TriboGeom* geom, TriboSdf** out);

// Fills the samples, cells and balls (sdf_cloud.c, sdf_balls.c), the surface (sdf_surface.c).
TRIBO_NODISCARD TriboStatus tribo_col_sdf_fill_cloud(TriboSdf* sdf);
TRIBO_NODISCARD TriboStatus tribo_col_sdf_fill_balls(TriboSdf* sdf);
TRIBO_NODISCARD TriboStatus tribo_col_sdf_fill_surface(TriboSdf* sdf);

// Local minima of the distance to the surface as seen from x, at most `most`; those beyond `reach` are left out. A ball
// in a corner touches both of its sides. Returns how many.
typedef struct SdfFoot {
  double phi, n[3];  // φ and its gradient there, in the field's frame
  int feature;       // which part of the surface
} SdfFoot;
enum { SDF_FEET = 16 };
int tribo_col_sdf_feet(const TriboSdf* sdf, const double x[3], double reach, SdfFoot* out);
