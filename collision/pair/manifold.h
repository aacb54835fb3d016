// Contact points of one pair. Two patches become contact points by clipping one against the sides of the other; each
// point's gap is measured along the normal to the reference plane.
#pragma once

#include "patch.h"

enum { TRIBO_POINT_MAX = 2 * TRIBO_PATCH_MAX, TRIBO_KEPT_MAX = 4 };

typedef struct TriboColPoint {
  double a[3], b[3];  // on the two surfaces, world [m]
  double normal[3];   // from a to b
  double gap;         // (b − a)·normal [m]
  uint32_t feature;   // name of the point, see tribo_col_feature
  uint32_t place;     // where on the way round a face it lies, a quarter is 65536
} TriboColPoint;

typedef struct TriboManifold {
  double gap, normal[3];  // signed distance of the pair and its direction, from a to b [m]
  int count;              // points within the reach asked for, 0 when gap is above it (gap is then a lower bound)
  TriboColPoint points[TRIBO_POINT_MAX];
} TriboManifold;

// Kinds of features, in the two top bits.
enum { TRIBO_FEATURE_POINT, TRIBO_FEATURE_FACE, TRIBO_FEATURE_EDGE, TRIBO_FEATURE_VERTEX };
static inline uint32_t tribo_col_feature(int kind, int x, int y, int label) {
  return (uint32_t)kind << 30 | ((uint32_t)x & 0x1fff) << 17 | ((uint32_t)y & 0x1fff) << 4 | ((uint32_t)label & 0xf);
}

// One point, with b = a + gap·normal.
void tribo_col_add_point(TriboManifold* m, const double a[3], const double normal[3], double gap, uint32_t feature);

// The point of the largest gap: a full manifold gives it up for a deeper one. There is at least one point.
int tribo_col_shallowest(const TriboManifold* m);

// Turns the answer for (b, a) into that for (a, b).
void tribo_col_exchange_sides(TriboManifold* m);

// Clips the patch of one solid against the face of the other and adds the points with gap ≤ reach.
// n is the pair's normal; face_is_a tells whose face is the reference. Returns the least gap, INFINITY for no overlap.
double tribo_col_clip(const TriboPatch* face, const TriboPatch* other, const double n[3], int face_is_a, double reach,
                      TriboManifold* m);

// Keeps at most four points and sorts them. Of those that were there before (nknown of this pair) all that carried
// stay, and the others as long as new ones do not span much more: a support is not let go because others are as good.
// New ones: the deepest, and those that span the most area; equals are decided alike in every step. What was there
// keeps its name.
int tribo_col_reduce(TriboColPoint* points, int count, const TriboContactName* known, int nknown);
// Features become unique and points sorted by them.
void tribo_col_sort(TriboColPoint* points, int count);

// Closest points of two segments given by middle, unit direction and half length, as parameters from the middle.
// Parallel ones: the middle of their overlap.
void tribo_col_segments(const double p[3], const double d[3], double l, const double q[3], const double e[3], double m,
                        double* s, double* t);
