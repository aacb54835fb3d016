// The broad phase: the pairs of a tree are those of brute force, sorted, and none that the filter refuses.
#include "broad.h"

#include "geometry.h"
#include "memory.h"

static int parity(const void* context, int a, int b) {
  return (a + b) % *(const int*)context != 0;
}

static int overlap(const TriboAabb* x, const TriboAabb* y) {
  int yes = 1;
  for (int k = 0; k < 3; ++k) {
    yes = yes && x->low[k] <= y->high[k] && y->low[k] <= x->high[k];
  }
  return yes;
}

// Scenes of all sorts: even, clustered, in one point, on a line, one far away, sizes over four decades.
static void random_boxes(KitRandom* r, int scene, TriboAabb* boxes, int n) {
  for (int i = 0; i < n; ++i) {
    double half = scene % 2 ? pow(10, kit_uniform(r, -4, 0)) : 0.1;
    for (int k = 0; k < 3; ++k) {
      double x = kit_uniform(r, -1, 1);
      x = scene / 2 % 5 == 1 ? x * x * x : scene / 2 % 5 == 2 ? 0 : scene / 2 % 5 == 3 ? (k == 0) * x : x;
      x += scene / 2 % 5 == 4 && i == 0 ? 1e9 : 0;
      boxes[i].low[k] = x - half * kit_uniform(r, 0, 1);
      boxes[i].high[k] = x + half * kit_uniform(r, 0, 1);
    }
  }
}

// Worlds of many sizes, some items far away: the tree finds what a double loop finds.
static void same_pairs_as_brute_force(void** state) {
  (void)state;
  KitRandom r = {1};
  TriboBroad broad = {0};
  static TriboAabb boxes[401];
  static int moving[400], fixed[400];
  int64_t total = 0;
  for (int scene = 0; scene < 200; ++scene) {
    int n = scene < 20 ? scene : 1 + kit_int(&r, 400), nmoving = 0, nfixed = 0, modulus = 2 + scene % 5;
    random_boxes(&r, scene, boxes, n);
    for (int i = 0; i < n; ++i) {
      if (kit_int(&r, 5) == 0) {
        fixed[nfixed++] = i;
      } else {
        moving[nmoving++] = i;
      }
    }
    broad.npair = 0;
    CHECK_OK(tribo_col_broad_pairs(&broad, boxes, moving, nmoving, fixed, nfixed, parity, &modulus));
    CHECK_OK(tribo_col_broad_sort(&broad, n));
    // all pairs in order, with at least one moving partner
    int at = 0;
    for (int a = 0; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) {
        int both_fixed = 0;
        for (int f = 0; f < nfixed; ++f) {
          both_fixed += fixed[f] == a || fixed[f] == b;
        }
        if (both_fixed < 2 && overlap(boxes + a, boxes + b) && (a + b) % modulus != 0) {
          assert_true(at < broad.npair);
          assert_int_equal(broad.pairs[at].a, a);
          assert_int_equal(broad.pairs[at].b, b);
          at++;
        }
      }
    }
    assert_int_equal(at, broad.npair);
    total += at;
    // among those it found, and among these with one that lies apart, it finds them again
    static TriboGeomPair known[100000];
    const int found = broad.npair;
    if (found + 1 < 100000 && n > 0) {
      memcpy(known, broad.pairs, (size_t)found * sizeof *known);
      boxes[n] = (TriboAabb){{2e9, 0, 0}, {2e9, 0, 0}};
      known[found] = (TriboGeomPair){0, n};
      broad.npair = 0;
      CHECK_OK(tribo_col_broad_listed(&broad, boxes, known, found + 1, parity, &modulus));
      assert_int_equal(broad.npair, found);
      assert_memory_equal(broad.pairs, known, (size_t)found * sizeof *known);
    }
  }
  assert_true(total > 50000);
  tribo_col_broad_free(&broad);
}

// Many items that stay where they are, and none that moves: no pair.
static void nothing_moves(void** state) {
  (void)state;
  KitRandom r = {3};
  TriboBroad broad = {0};
  TriboAabb boxes[40];
  int fixed[40], modulus = 1000;
  for (int i = 0; i < 40; ++i) {
    fixed[i] = i;
  }
  random_boxes(&r, 0, boxes, 40);
  CHECK_OK(tribo_col_broad_pairs(&broad, boxes, NULL, 0, fixed, 40, parity, &modulus));
  assert_int_equal(broad.npair, 0);
  tribo_col_broad_free(&broad);
}

// A second run needs no memory.
static void buffers_stay(void** state) {
  (void)state;
  KitRandom r = {2};
  TriboBroad broad = {0};
  static TriboAabb boxes[400];
  static int moving[400];
  int modulus = 1000;
  for (int i = 0; i < 400; ++i) {
    moving[i] = i;
  }
  random_boxes(&r, 0, boxes, 400);
  uint64_t growth = 0;
  for (int run = 0; run < 3; ++run) {
    broad.npair = 0;
    CHECK_OK(tribo_col_broad_pairs(&broad, boxes, moving, 400, NULL, 0, parity, &modulus));
    CHECK_OK(tribo_col_broad_sort(&broad, 400));
    growth = run == 0 ? tribo_growth_count() : growth;
    assert_int_equal(tribo_growth_count(), growth);
  }
  tribo_col_broad_free(&broad);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_pairs_as_brute_force), cmocka_unit_test(nothing_moves),
                                     cmocka_unit_test(buffers_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
