// Broad phase. A tree over the boxes of the moving items, rebuilt at each call, so that nothing depends on history:
//
//   1. items are sorted along a Morton curve through their middles (radix sort, stable);
//   2. four neighbours on the curve make a node, four nodes the node above, … : no pointers, only levels, and the four
//      boxes of a node lie number beside number, so that one box is compared with all of them at once;
//   3. four leaves together query the tree for overlapping leaves after themselves, each fixed item for all.
//
// A few items are compared each with each. Sorting and building are linear; the questions cost about log n plus what
// they find. Fixed items are never put into the tree, so that a large floor widens no node. Where few pairs are in
// question (a robot whose links mostly cannot touch), their boxes are compared one by one.
#include "broad.h"

#include <math.h>
#include <string.h>

#include "lanes.h"
#include "memory.h"

enum { FAN = 4, LEVELS = 20, BRUTE_FORCE_MAX = 16 };

void tribo_col_broad_free(TriboBroad* b) {
  void* all[] = {b->nodes, b->keys, b->spare_keys, b->order, b->spare_order, b->pairs, b->spare_pairs, b->counts};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tribo_free(all[i]);
  }
}

// (all six comparisons at once: branches would be guessed wrong half of the time)
static int overlap(const TriboAabb* x, const TriboAabb* y) {
  return (x->low[0] <= y->high[0]) & (y->low[0] <= x->high[0]) & (x->low[1] <= y->high[1]) & (y->low[1] <= x->high[1]) &
         (x->low[2] <= y->high[2]) & (y->low[2] <= x->high[2]);
}

// Spreads 16 bits so that two zeros follow each.
static uint64_t spread_bits(uint64_t x) {
  x = (x | x << 16) & UINT64_C(0xff0000ff);
  x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
  x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
  x = (x | x << 2) & UINT64_C(0x1249249249249249);
  return x;
}

// Place of each item on the Morton curve through cells of half a mean item. They count from the lowest item on, so that
// the high digits of the keys are zero where items lie close to each other, and begin again after 2^16: an item that
// has fallen out of the world and lies far off makes the cells of the others no coarser.
static void morton_keys(TriboBroad* b, const TriboAabb* boxes, const int* moving, int n) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, sum = 0;
  for (int i = 0; i < n; ++i) {
    const TriboAabb* box = boxes + moving[i];
    for (int k = 0; k < 3; ++k) {
      const double twice = box->low[k] + box->high[k];
      low[k] = twice < low[k] ? twice : low[k];
      sum += box->high[k] - box->low[k];
    }
  }
  // cells per twice a length
  const double scale = sum > 0 && sum < 1e300 ? 3.0 * n / sum : 0, most = 1e18;
  for (int i = 0; i < n; ++i) {
    const TriboAabb* box = boxes + moving[i];
    uint64_t key = 0;
    for (int k = 0; k < 3; ++k) {
      const double cell = (box->low[k] + box->high[k] - low[k]) * scale;
      key |= spread_bits((uint64_t)(cell < most ? cell : most) & UINT64_C(0xffff)) << k;
    }
    b->keys[i] = key;
    b->order[i] = moving[i];
  }
}

// Stable insertion, which is faster for few.
static void insertion_sort_keys(TriboBroad* b, int n) {
  for (int i = 1; i < n; ++i) {
    const uint64_t key = b->keys[i];
    const int item = b->order[i];
    int k = i;
    for (; k > 0 && b->keys[k - 1] > key; --k) {
      b->keys[k] = b->keys[k - 1];
      b->order[k] = b->order[k - 1];
    }
    b->keys[k] = key;
    b->order[k] = item;
  }
}

// Stable radix sort of keys with order; digits that are equal everywhere are skipped.
static void sort_keys(TriboBroad* b, int n) {
  if (n <= BRUTE_FORCE_MAX) {
    insertion_sort_keys(b, n);
    return;
  }
  for (int shift = 0; shift < 64; shift += 8) {
    int counts[257] = {0};
    for (int i = 0; i < n; ++i) {
      counts[(b->keys[i] >> shift & 255) + 1]++;
    }
    if (n == 0 || counts[(b->keys[0] >> shift & 255) + 1] == n) {
      continue;
    }
    for (int d = 0; d < 256; ++d) {
      counts[d + 1] += counts[d];
    }
    for (int i = 0; i < n; ++i) {
      int to = counts[b->keys[i] >> shift & 255]++;
      b->spare_keys[to] = b->keys[i];
      b->spare_order[to] = b->order[i];
    }
    uint64_t* keys = b->keys;
    b->keys = b->spare_keys, b->spare_keys = keys;
    int* order = b->order;
    b->order = b->spare_order, b->spare_order = order;
  }
}

typedef struct Tree {
  int levels;
  int count[LEVELS];       // nodes of each level, one in the last
  TriboAabb4* at[LEVELS];  // first node of each level; node i of level l holds the nodes 4i … 4i + 3 of level l − 1,
} Tree;                    // of level 0 the leaves

static void set_lane(TriboAabb4* node, int lane, const TriboAabb* box) {
  for (int k = 0; k < 3; ++k) {
    node->low[k][lane] = box->low[k];
    node->high[k][lane] = box->high[k];
  }
}

static TriboAabb around(const TriboAabb4* node) {
  TriboAabb box;
  for (int k = 0; k < 3; ++k) {
    const double *low = node->low[k], *high = node->high[k];
    const double low_01 = low[0] < low[1] ? low[0] : low[1], low_23 = low[2] < low[3] ? low[2] : low[3];
    const double high_01 = high[0] > high[1] ? high[0] : high[1], high_23 = high[2] > high[3] ? high[2] : high[3];
    box.low[k] = low_01 < low_23 ? low_01 : low_23;
    box.high[k] = high_01 > high_23 ? high_01 : high_23;
  }
  return box;
}

// Four times a box that overlaps none.
static TriboAabb4 no_boxes(void) {
  const TriboAabb none = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  TriboAabb4 four;
  for (int lane = 0; lane < FAN; ++lane) {
    set_lane(&four, lane, &none);
  }
  return four;
}

// Level by level: every node holds the AABBs of four below it.
static Tree build_tree(TriboBroad* b, const TriboAabb* boxes, int n) {
  const TriboAabb4 none = no_boxes();
  Tree tree = {.levels = 0};
  TriboAabb4* node = b->nodes;
  for (int below = n; tree.levels == 0 || below > 1; below = tree.count[tree.levels++]) {
    const TriboAabb4* from = tree.levels > 0 ? tree.at[tree.levels - 1] : NULL;
    tree.at[tree.levels] = node;
    tree.count[tree.levels] = (below + FAN - 1) / FAN;
    node[tree.count[tree.levels] - 1] = none;  // lanes that are left over
    for (int i = 0; i < below; ++i) {
      const TriboAabb box = from == NULL ? boxes[b->order[i]] : around(from + i);
      set_lane(node + i / FAN, i % FAN, &box);
    }
    node += tree.count[tree.levels];
  }
  return tree;
}

// Which of four boxes overlap one, bit by bit.
static inline __attribute__((always_inline)) unsigned overlap_four(const TriboAabb4* x, const TriboAabb* y) {
  typedef int64_t Lanes __attribute__((vector_size(32)));
  Lanes yes = {1, 2, 4, 8};
  for (int k = 0; k < 3; ++k) {
    yes &= (Lanes)(TRIBO_FOUR_CONST(x->low[k]) <= y->high[k]) & (Lanes)(TRIBO_FOUR_CONST(x->high[k]) >= y->low[k]);
  }
  return (unsigned)(yes[0] | yes[1] | yes[2] | yes[3]);
}

// A few items that query the tree together: the leaves of a node of level 0, or one fixed item.
typedef struct TreeQuery {
  const TriboAabb4* four;  // their boxes
  const int* items;
  int node;       // −1: not in the tree
  TriboAabb all;  // around the boxes
} TreeQuery;

// Appends the leaves that overlap the items of the query; leaves look only for those after themselves.
TRIBO_LANES static TriboStatus query_tree(TriboBroad* b, const TriboAabb* boxes, const Tree* tree,
                                          const TreeQuery* from) {
  struct {
    int level, node;
  } stack[LEVELS * FAN];
  int depth = 0;
  stack[depth].level = tree->levels - 1, stack[depth++].node = 0;
  while (depth > 0) {
    const int level = stack[--depth].level, node = stack[depth].node;
    unsigned inside = overlap_four(tree->at[level] + node, &from->all);
    if (level > 0) {
      // nodes that end before the one of the query are left out
      const int first = from->node < 0 ? 0 : (from->node >> 2 * (level - 1)) - FAN * node;
      for (inside &= first > 0 ? ~0U << first : ~0U; inside != 0; inside &= inside - 1) {
        stack[depth].level = level - 1, stack[depth++].node = FAN * node + __builtin_ctz(inside);
      }
      continue;
    }
    TRIBO_TRY(TRIBO_APPEND(&b->pairs, b->npair, FAN * FAN));
    for (; inside != 0; inside &= inside - 1) {
      const int lane = __builtin_ctz(inside), leaf = b->order[FAN * node + lane];
      unsigned found = overlap_four(from->four, boxes + leaf);
      for (found &= node == from->node ? ~(~0U << lane) : ~0U; found != 0; found &= found - 1) {
        b->pairs[b->npair++] = (TriboGeomPair){from->items[__builtin_ctz(found)], leaf};
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_broad_listed(TriboBroad* b, const TriboAabb* boxes, const TriboGeomPair* pairs, int npair,
                                   TriboPairFilter* wanted, const void* context) {
  TRIBO_TRY(TRIBO_APPEND(&b->pairs, b->npair, npair));
  for (int i = 0; i < npair; ++i) {
    if (overlap(boxes + pairs[i].a, boxes + pairs[i].b) && wanted(context, pairs[i].a, pairs[i].b)) {
      b->pairs[b->npair++] = pairs[i];
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_broad_append(TriboBroad* b, int x, int y) {
  TRIBO_TRY(TRIBO_APPEND(&b->pairs, b->npair, 1));
  b->pairs[b->npair++] = x < y ? (TriboGeomPair){x, y} : (TriboGeomPair){y, x};
  return TRIBO_OK;
}

// A few items need no tree: each against all.
static TriboStatus brute_force_pairs(TriboBroad* b, const TriboAabb* boxes, const int* moving, int nmoving,
                                     const int* fixed, int nfixed) {
  const int most = nmoving * (nmoving - 1) / 2 + nmoving * nfixed;
  TRIBO_TRY(TRIBO_APPEND(&b->pairs, b->npair, most));
  for (int i = 0; i < nmoving; ++i) {
    for (int k = i + 1; k < nmoving; ++k) {
      b->pairs[b->npair] = (TriboGeomPair){moving[i], moving[k]};
      b->npair += overlap(boxes + moving[i], boxes + moving[k]);
    }
    for (int k = 0; k < nfixed; ++k) {
      b->pairs[b->npair] = (TriboGeomPair){fixed[k], moving[i]};
      b->npair += overlap(boxes + moving[i], boxes + fixed[k]);
    }
  }
  return TRIBO_OK;
}

// Drops the pairs that the filter does not want; the others get a < b.
static void filter_pairs(TriboBroad* b, int start, TriboPairFilter* wanted, const void* context) {
  int kept = start;
  for (int i = start; i < b->npair; ++i) {
    int x = b->pairs[i].a, y = b->pairs[i].b;
    if (wanted(context, x, y)) {
      b->pairs[kept++] = x < y ? (TriboGeomPair){x, y} : (TriboGeomPair){y, x};
    }
  }
  b->npair = kept;
}

TriboStatus tribo_col_broad_pairs(TriboBroad* b, const TriboAabb* boxes, const int* moving, int nmoving,
                                  const int* fixed, int nfixed, TriboPairFilter* wanted, const void* context) {
  const int start = b->npair;
  if (nmoving == 0 || (nmoving <= BRUTE_FORCE_MAX && nfixed <= BRUTE_FORCE_MAX)) {
    TRIBO_TRY(brute_force_pairs(b, boxes, moving, nmoving, fixed, nfixed));
    filter_pairs(b, start, wanted, context);
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&b->nodes, nmoving / 3 + LEVELS));
  TRIBO_TRY(TRIBO_RESERVE(&b->keys, nmoving));
  TRIBO_TRY(TRIBO_RESERVE(&b->spare_keys, nmoving));
  TRIBO_TRY(TRIBO_RESERVE(&b->order, nmoving));
  TRIBO_TRY(TRIBO_RESERVE(&b->spare_order, nmoving));
  morton_keys(b, boxes, moving, nmoving);
  sort_keys(b, nmoving);
  Tree tree = build_tree(b, boxes, nmoving);
  for (int i = 0; i < tree.count[0]; ++i) {
    TRIBO_TRY(query_tree(b, boxes, &tree, &(TreeQuery){tree.at[0] + i, b->order + FAN * i, i, around(tree.at[0] + i)}));
  }
  TriboAabb4 four = no_boxes();
  for (int i = 0; i < nfixed; ++i) {
    set_lane(&four, 0, boxes + fixed[i]);
    TRIBO_TRY(query_tree(b, boxes, &tree, &(TreeQuery){&four, fixed + i, -1, boxes[fixed[i]]}));
  }
  filter_pairs(b, start, wanted, context);
  return TRIBO_OK;
}

// By a, then by b; for few.
static void insertion_sort_pairs(TriboBroad* b) {
  for (int i = 1; i < b->npair; ++i) {
    const TriboGeomPair pair = b->pairs[i];
    int k = i;
    for (; k > 0 && (b->pairs[k - 1].a > pair.a || (b->pairs[k - 1].a == pair.a && b->pairs[k - 1].b > pair.b)); --k) {
      b->pairs[k] = b->pairs[k - 1];
    }
    b->pairs[k] = pair;
  }
}

// Counting sort by b, then by a: linear and stable.
TriboStatus tribo_col_broad_sort(TriboBroad* b, int limit) {
  if (b->npair <= BRUTE_FORCE_MAX) {
    insertion_sort_pairs(b);
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&b->spare_pairs, b->npair));
  TRIBO_TRY(TRIBO_RESERVE(&b->counts, limit + 1));
  for (int by_a = 0; by_a < 2; ++by_a) {
    const TriboGeomPair* from = by_a ? b->spare_pairs : b->pairs;
    TriboGeomPair* to = by_a ? b->pairs : b->spare_pairs;
    memset(b->counts, 0, ((size_t)limit + 1) * sizeof *b->counts);
    for (int i = 0; i < b->npair; ++i) {
      b->counts[(by_a ? from[i].a : from[i].b) + 1]++;
    }
    for (int i = 0; i < limit; ++i) {
      b->counts[i + 1] += b->counts[i];
    }
    for (int i = 0; i < b->npair; ++i) {
      to[b->counts[by_a ? from[i].a : from[i].b]++] = from[i];
    }
  }
  return TRIBO_OK;
}
