// What a solid shows in a direction, as flat pieces of surface: a polygon, a segment or a point.
#pragma once

#include "shape.h"

enum { TRIBO_PATCH_MAX = 32 };

typedef struct TriboPatch {
  int count;                          // 1 point, 2 segment, 3 … polygon, counter-clockwise about the normal
  double points[TRIBO_PATCH_MAX][3];  // world [m]
  double normal[3];                   // of a polygon, outward
  double offset;                      // of a polygon: normal·x of its plane [m]
  double radius;                      // of the rounding around a point or segment (sphere, capsule) [m]
  double u[3], v[3];                  // axes fixed to the solid, which tell the quarters of a polygon apart
  int id;                             // which face
} TriboPatch;

// A face of a box: its outward normal is + or − (negative) the axis.
void tribo_col_box_face(const TriboSolid* box, int axis, int negative, TriboPatch* out);

// What the solid shows in the unit direction n: it contains the support point.
void tribo_col_patch(const TriboSolid* solid, const double n[3], TriboPatch* out);

// Point k of `count` on the rim of a cap (top: z > 0) of a cylinder or cone. The points are fixed to the body while
// the cap lies flat against n and turn with a tilt, so that one of them is then the deepest.
void tribo_col_rim_point(const TriboSolid* solid, int top, const double n[3], int k, int count, double x[3]);
