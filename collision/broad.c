// Broad phase. A tree over the boxes of the moving items, made anew at each call, so that nothing depends on history:
//
//   1. items are sorted along a Morton curve through their middles (radix sort, stable);
//   2. four neighbours on the curve make a node, four nodes the node above, … : no pointers, only levels;
//   3. four leaves together ask the tree for overlapping leaves after themselves, each fixed item for all.
//
// A few items are compared each with each. Sorting and building are linear; the questions cost about log n plus what
// they find. Fixed items are never put into the tree, so that a large floor widens no node. Where few pairs are in
// question (a robot whose links mostly cannot touch), their boxes are compared one by one.
#include "broad.h"

#include <math.h>
#include <string.h>

#include "memory.h"

enum { FAN = 4, LEVELS = 20, AXIS_BITS = 21, FEW = 16 };

void tribo_col_broad_free(TriboBroad* b) {
  void* all[] = {b->nodes, b->keys, b->spare_keys, b->order, b->spare_order, b->pairs, b->spare_pairs, b->counts};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tribo_free(all[i]);
  }
}

// (all six comparisons at once: branches would be guessed wrong half of the time)
static int overlap(const TriboBox* x, const TriboBox* y) {
  return (x->low[0] <= y->high[0]) & (y->low[0] <= x->high[0]) & (x->low[1] <= y->high[1]) & (y->low[1] <= x->high[1]) &
         (x->low[2] <= y->high[2]) & (y->low[2] <= x->high[2]);
}

static void widen(TriboBox* x, const TriboBox* y) {
  for (int k = 0; k < 3; ++k) {
    x->low[k] = y->low[k] < x->low[k] ? y->low[k] : x->low[k];
    x->high[k] = y->high[k] > x->high[k] ? y->high[k] : x->high[k];
  }
}

// Spreads the 21 low bits of x so that two zeros follow each.
static uint64_t spread_bits(uint64_t x) {
  x = (x | x << 32) & UINT64_C(0x1f00000000ffff);
  x = (x | x << 16) & UINT64_C(0x1f0000ff0000ff);
  x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
  x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
  x = (x | x << 2) & UINT64_C(0x1249249249249249);
  return x;
}

// Place of each item on the Morton curve through the box of all middles.
static void curve_keys(TriboBroad* b, const TriboBox* boxes, const int* moving, int n) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, scale = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) {
      double middle = 0.5 * boxes[moving[i]].low[k] + 0.5 * boxes[moving[i]].high[k];
      low[k] = fmin(low[k], middle);
      high[k] = fmax(high[k], middle);
    }
  }
  for (int k = 0; k < 3; ++k) {
    scale = fmax(scale, high[k] - low[k]);
  }
  const double cells = (double)((1 << AXIS_BITS) - 1);
  scale = scale > 0 && scale < 1e300 ? cells / scale : 0;
  for (int i = 0; i < n; ++i) {
    uint64_t key = 0;
    for (int k = 0; k < 3; ++k) {
      double middle = 0.5 * boxes[moving[i]].low[k] + 0.5 * boxes[moving[i]].high[k];
      key |= spread_bits((uint64_t)fmin((middle - low[k]) * scale, cells)) << k;
    }
    b->keys[i] = key;
    b->order[i] = moving[i];
  }
}

// Stable insertion, which is faster for few.
static void insert_keys(TriboBroad* b, int n) {
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
  if (n <= FEW) {
    insert_keys(b, n);
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
    size_t capacity = b->key_capacity;
    b->key_capacity = b->spare_key_capacity, b->spare_key_capacity = capacity;
    int* order = b->order;
    b->order = b->spare_order, b->spare_order = order;
    capacity = b->order_capacity;
    b->order_capacity = b->spare_order_capacity, b->spare_order_capacity = capacity;
  }
}

typedef struct Tree {
  int levels;            // level 0 are the leaves
  int count[LEVELS];     // nodes of each level
  TriboBox* at[LEVELS];  // first node of each level
} Tree;

static Tree build_tree(TriboBroad* b, const TriboBox* boxes, int n) {
  Tree tree = {.levels = 1, .count = {n}, .at = {b->nodes}};
  for (int i = 0; i < n; ++i) {
    b->nodes[i] = boxes[b->order[i]];
  }
  do {
    const TriboBox* below = tree.at[tree.levels - 1];
    int nbelow = tree.count[tree.levels - 1], count = (nbelow + FAN - 1) / FAN;
    TriboBox* nodes = tree.at[tree.levels - 1] + nbelow;
    for (int i = 0; i < count; ++i) {
      nodes[i] = below[FAN * i];
      for (int k = FAN * i + 1; k < FAN * i + FAN && k < nbelow; ++k) {
        widen(nodes + i, below + k);
      }
    }
    tree.at[tree.levels] = nodes;
    tree.count[tree.levels++] = count;
  } while (tree.count[tree.levels - 1] > FAN && tree.levels < LEVELS);
  return tree;
}

// A few boxes that ask the tree together: the leaves first … first + count − 1, or one fixed item.
typedef struct Asking {
  const TriboBox* boxes;
  const int* items;
  int count, first;  // first −1: not in the tree
  TriboBox all;      // around the boxes
} Asking;

// The leaves below one node of level 1 against the boxes that ask; leaves ask only those after themselves.
static TriboStatus match(TriboBroad* b, const Tree* tree, int node, const Asking* who) {
  TRIBO_TRY(TRIBO_APPEND(&b->pairs, &b->pair_capacity, b->npair, FAN * FAN));
  int end = FAN * (node + 1) < tree->count[0] ? FAN * (node + 1) : tree->count[0], n = b->npair;
  for (int k = 0; k < who->count; ++k) {
    int after = who->first < 0 ? -1 : who->first + k;
    for (int leaf = FAN * node > after ? FAN * node : after + 1; leaf < end; ++leaf) {
      // written always, kept when they overlap
      b->pairs[n] = (TriboPair){who->items[k], b->order[leaf]};
      n += overlap(who->boxes + k, tree->at[0] + leaf);
    }
  }
  b->npair = n;
  return TRIBO_OK;
}

static TriboStatus ask(TriboBroad* b, const Tree* tree, const Asking* who) {
  struct {
    int level, first, end;
  } stack[LEVELS * FAN];
  int depth = 1;
  stack[0].level = tree->levels - 1, stack[0].first = 0, stack[0].end = tree->count[tree->levels - 1];
  while (depth > 0) {
    int level = stack[depth - 1].level, first = stack[depth - 1].first, end = stack[depth - 1].end;
    depth--;
    for (int i = first; i < end; ++i) {
      // the last leaf below node i is (i + 1)·4^level − 1
      if (((int64_t)(i + 1) << (2 * level)) - 1 < who->first || !overlap(tree->at[level] + i, &who->all)) {
        continue;
      }
      if (level == 1) {
        TRIBO_TRY(match(b, tree, i, who));
      } else {
        int last = FAN * (i + 1) < tree->count[level - 1] ? FAN * (i + 1) : tree->count[level - 1];
        stack[depth].level = level - 1, stack[depth].first = FAN * i, stack[depth++].end = last;
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_broad_among(TriboBroad* b, const TriboBox* boxes, const TriboPair* pairs, int npair,
                                  TriboPairFilter* wanted, const void* context) {
  TRIBO_TRY(TRIBO_APPEND(&b->pairs, &b->pair_capacity, b->npair, npair));
  for (int i = 0; i < npair; ++i) {
    if (overlap(boxes + pairs[i].a, boxes + pairs[i].b) && wanted(context, pairs[i].a, pairs[i].b)) {
      b->pairs[b->npair++] = pairs[i];
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_broad_append(TriboBroad* b, int x, int y) {
  TRIBO_TRY(TRIBO_APPEND(&b->pairs, &b->pair_capacity, b->npair, 1));
  b->pairs[b->npair++] = x < y ? (TriboPair){x, y} : (TriboPair){y, x};
  return TRIBO_OK;
}

// A few items need no tree: each against all.
static TriboStatus every_pair(TriboBroad* b, const TriboBox* boxes, const int* moving, int nmoving, const int* fixed,
                              int nfixed) {
  const int most = nmoving * (nmoving - 1) / 2 + nmoving * nfixed;
  TRIBO_TRY(TRIBO_APPEND(&b->pairs, &b->pair_capacity, b->npair, most));
  for (int i = 0; i < nmoving; ++i) {
    for (int k = i + 1; k < nmoving; ++k) {
      b->pairs[b->npair] = (TriboPair){moving[i], moving[k]};
      b->npair += overlap(boxes + moving[i], boxes + moving[k]);
    }
    for (int k = 0; k < nfixed; ++k) {
      b->pairs[b->npair] = (TriboPair){fixed[k], moving[i]};
      b->npair += overlap(boxes + moving[i], boxes + fixed[k]);
    }
  }
  return TRIBO_OK;
}

// What the filter does not want goes; the rest gets a < b.
static void keep_wanted(TriboBroad* b, int start, TriboPairFilter* wanted, const void* context) {
  int kept = start;
  for (int i = start; i < b->npair; ++i) {
    int x = b->pairs[i].a, y = b->pairs[i].b;
    if (wanted(context, x, y)) {
      b->pairs[kept++] = x < y ? (TriboPair){x, y} : (TriboPair){y, x};
    }
  }
  b->npair = kept;
}

TriboStatus tribo_col_broad_pairs(TriboBroad* b, const TriboBox* boxes, const int* moving, int nmoving,
                                  const int* fixed, int nfixed, TriboPairFilter* wanted, const void* context) {
  const int start = b->npair;
  if (nmoving <= FEW && nfixed <= FEW) {
    TRIBO_TRY(every_pair(b, boxes, moving, nmoving, fixed, nfixed));
    keep_wanted(b, start, wanted, context);
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&b->nodes, &b->node_capacity, nmoving + nmoving / 2 + LEVELS));
  TRIBO_TRY(TRIBO_RESERVE(&b->keys, &b->key_capacity, nmoving));
  TRIBO_TRY(TRIBO_RESERVE(&b->spare_keys, &b->spare_key_capacity, nmoving));
  TRIBO_TRY(TRIBO_RESERVE(&b->order, &b->order_capacity, nmoving));
  TRIBO_TRY(TRIBO_RESERVE(&b->spare_order, &b->spare_order_capacity, nmoving));
  curve_keys(b, boxes, moving, nmoving);
  sort_keys(b, nmoving);
  Tree tree = build_tree(b, boxes, nmoving);
  for (int i = 0; i < tree.count[1]; ++i) {
    int first = FAN * i, count = nmoving - first < FAN ? nmoving - first : FAN;
    Asking leaves = {b->nodes + first, b->order + first, count, first, tree.at[1][i]};
    TRIBO_TRY(ask(b, &tree, &leaves));
  }
  for (int i = 0; i < nfixed; ++i) {
    Asking one = {boxes + fixed[i], fixed + i, 1, -1, boxes[fixed[i]]};
    TRIBO_TRY(ask(b, &tree, &one));
  }
  keep_wanted(b, start, wanted, context);
  return TRIBO_OK;
}

// By a, then by b; for few.
static void insert_pairs(TriboBroad* b) {
  for (int i = 1; i < b->npair; ++i) {
    const TriboPair pair = b->pairs[i];
    int k = i;
    for (; k > 0 && (b->pairs[k - 1].a > pair.a || (b->pairs[k - 1].a == pair.a && b->pairs[k - 1].b > pair.b)); --k) {
      b->pairs[k] = b->pairs[k - 1];
    }
    b->pairs[k] = pair;
  }
}

// Counting sort by b, then by a: linear and stable.
TriboStatus tribo_col_broad_sort(TriboBroad* b, int limit) {
  if (b->npair <= FEW) {
    insert_pairs(b);
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&b->spare_pairs, &b->spare_pair_capacity, b->npair));
  TRIBO_TRY(TRIBO_RESERVE(&b->counts, &b->count_capacity, limit + 1));
  for (int by_a = 0; by_a < 2; ++by_a) {
    const TriboPair* from = by_a ? b->spare_pairs : b->pairs;
    TriboPair* to = by_a ? b->pairs : b->spare_pairs;
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
