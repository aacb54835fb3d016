// Compiled shapes and what the narrow phase asks of them: support points, curvature of the support function, bounds.
//
//   h(n) = max over x in the solid of n·x        support function, the point that attains it is its gradient
#pragma once

#include "coal_shim.h"
#include "collision.h"
#include "math3.h"

// Convex polyhedron. Faces are maximal: coplanar triangles are merged, so a cube has six.
struct TriboHull {
  int nvertex, ntriangle, nface;
  double* points;     // (nvertex × 3)
  int* triangles;     // (ntriangle × 3) fans of the faces, outward
  double* planes;     // (nface × 4) outward unit normal and offset: n·x ≤ d
  int* face_first;    // (nface + 1) into face_vertex
  int* face_vertex;   // polygons, counter-clockwise seen from outside
  int* around_first;  // (nvertex + 1) into around
  int* around;        // faces that meet at a vertex
  int* next;          // (as around) the vertex that follows it in this face
  int* start;         // (TRIBO_HULL_STARTS) of a large hull: vertices to search from, by direction; NULL: a small one
  double centre[3];   // of the bounding box
  double half[3];     // of the bounding box
  TriboCoalShape* coal;
};

// A geometry at its place in the world.
typedef struct TriboSolid {
  TriboShapeKind kind;
  double half[3];         // box: half lengths; ellipsoid: half axes; capsule, cylinder, cone: [2] half length [m]
  double radius;          // sphere, capsule, cylinder, cone [m]
  const TriboHull* hull;  // HULL only
  const TriboHeightField* field;  // HEIGHTFIELD only
  const TriboSdf* sdf;            // SDF; of others its field where they meet one, NULL: they never do
  TriboCoalShape* coal;   // NULL for half-spaces, height fields and SDF; belongs to the hull or to who made the solid
  double contact_offset;  // its surface for contacts is this far outside of it, ≥ 0 [m]
  TriboPose pose;
} TriboSolid;

// The solid of a checked geometry, without its Coal object and pose.
TriboSolid tribo_col_solid(const TriboGeom* geom);
// The same with both. The Coal object is made here, unless the hull brings it or the shape has none; to be closed.
TRIBO_NODISCARD TriboStatus tribo_col_solid_open(const TriboGeom* geom, const TriboPose* pose, TriboSolid* out);
void tribo_col_solid_close(TriboSolid* solid);

// h(n) along the unit direction n in world axes; x receives the point. Not for half-spaces.
double tribo_col_support(const TriboSolid* solid, const double n[3], double x[3]);

// Adds the Hessian of h at the unit direction n, where it is smooth (polyhedra: zero).
void tribo_col_curvature(const TriboSolid* solid, const double n[3], double hessian[9]);

// Of a height field, in its frame.
void tribo_col_field_bounds(const TriboHeightField* field, double low[3], double high[3]);

// Bounding box at the pose.
void tribo_col_bounds(const TriboSolid* solid, double low[3], double high[3]);

// Radius of a ball about the frame's origin that holds the shape.
double tribo_col_reach(const TriboSolid* solid);

// The vertex of a hull farthest along a direction given in the hull's frame; of equal ones always the same, in a small
// hull the lowest index.
int tribo_col_hull_support(const TriboHull* hull, const double n[3]);
// Start vertices of that search, for a large hull; its faces come first.
enum { TRIBO_HULL_SMALL = 32, TRIBO_HULL_STARTS = 6 * 4 * 4 };
void tribo_col_hull_starts(TriboHull* hull);

// The axis along which a vector is longest; of equal ones the first.
static inline int tribo_col_longest_axis(const double d[3]) {
  const int axis = fabs(d[1]) > fabs(d[0]);
  return fabs(d[2]) > fabs(d[axis]) ? 2 : axis;
}
// Order of points by x, then y, then z: −1, 0 or 1, for sorting.
static inline int tribo_col_compare3(const double a[3], const double b[3]) {
  for (int k = 0; k < 3; ++k) {
    if (a[k] != b[k]) {
      return a[k] < b[k] ? -1 : 1;
    }
  }
  return 0;
}
// Column k of the rotation: the k-th axis of the solid in the world.
static inline void tribo_col_axis(double o[3], const TriboSolid* s, int k) {
  tribo_set3(o, s->pose.R[k], s->pose.R[3 + k], s->pose.R[6 + k]);
}
static inline void tribo_col_to_local(double o[3], const TriboPose* pose, const double x[3]) {
  double d[3];
  tribo_sub3(d, x, pose->p);
  tribo_mul33tv(o, pose->R, d);
}
static inline void tribo_col_to_world(double o[3], const TriboPose* pose, const double x[3]) {
  tribo_mul33v(o, pose->R, x);
  tribo_add3(o, o, pose->p);
}
