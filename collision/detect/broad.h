// Broad phase: pairs of overlapping boxes.
#pragma once

#include "status.h"

// Axis-aligned bounding box (AABB), world axes.
typedef struct TriboAabb {
  double low[3], high[3];  // [m]
} TriboAabb;

// Four AABBs, number by number, for vector instructions.
typedef struct TriboAabb4 {
  double low[3][4], high[3][4];  // [m]
} TriboAabb4;

// Two geometries of a world.
typedef struct TriboGeomPair {
  int a, b;  // a < b
} TriboGeomPair;

typedef struct TriboBroad {
  TriboAabb4* nodes;            // all levels of the tree, leaves first
  uint64_t *keys, *spare_keys;  // place on the space-filling curve
  int *order, *spare_order;     // leaf → item
  TriboGeomPair *pairs, *spare_pairs;
  int* counts;
  int npair;
} TriboBroad;

void tribo_col_broad_free(TriboBroad* broad);

// Whether two items are wanted as a pair.
typedef int TriboPairFilter(const void* context, int a, int b);

// Appends all overlapping pairs moving–moving and moving–fixed that the filter wants to broad->pairs.
// boxes are indexed by the items listed in moving and fixed.
TRIBO_NODISCARD TriboStatus tribo_col_broad_pairs(TriboBroad* broad, const TriboAabb* boxes, const int* moving,
                                                  int nmoving, const int* fixed, int nfixed, TriboPairFilter* wanted,
                                                  const void* context);
// The same where all pairs in question are listed: appends those of them that overlap and are wanted.
TRIBO_NODISCARD TriboStatus tribo_col_broad_listed(TriboBroad* broad, const TriboAabb* boxes,
                                                   const TriboGeomPair* pairs, int npair, TriboPairFilter* wanted,
                                                   const void* context);
TRIBO_NODISCARD TriboStatus tribo_col_broad_append(TriboBroad* broad, int a, int b);

// Sorts the pairs by (a, b), both below `limit`.
TRIBO_NODISCARD TriboStatus tribo_col_broad_sort(TriboBroad* broad, int limit);
