// Least distance under linear rows: the conditions of Karush, Kuhn and Tucker, rows that depend on each other, and
// certificates of infeasibility.
#include "kit.h"
#include "least_distance.h"

enum { N = 9, ROWS = 24, LD = 12, TRIALS = 2000 };

static double rows[ROWS][LD];
static TriboLeastDistance p;

// Rows around a point that meets them, some of them copies.
static void make(KitRandom* r, int nequal, double inside[N]) {
  const int n = 2 + kit_int(r, N - 1), nrow = nequal + kit_int(r, ROWS - nequal);
  tribo_sol_ldp_begin(&p, n);
  memset(p.y0, 0, LD * sizeof *p.y0);
  for (int k = 0; k < n; ++k) {
    p.y0[k] = 3 * kit_normal(r);
    inside[k] = kit_normal(r);
  }
  for (int i = 0; i < nrow; ++i) {
    double b = 0;
    memset(rows[i], 0, sizeof rows[i]);
    const int copy = i > 1 && kit_int(r, 5) == 0;
    for (int k = 0; k < n; ++k) {
      rows[i][k] = copy ? 0.5 * rows[i - 1][k] - 2 * rows[i - 2][k] : kit_normal(r);
      b += rows[i][k] * inside[k];
    }
    p.nequal += i < nequal;
    tribo_sol_ldp_add(&p, rows[i], i < nequal ? b : b - fabs(kit_normal(r)) * kit_int(r, 2), 1e-10, kit_int(r, 2));
  }
}

static double miss(int i, const double* y) {
  return tribo_four_dot(rows[i], y, p.ld) - p.b[i];
}

static void answers_obey_kkt(void** state) {
  (void)state;
  KitRandom r = {1};
  double inside[N];
  for (int t = 0; t < TRIALS; ++t) {
    make(&r, kit_int(&r, 4), inside);
    assert_int_equal(tribo_sol_ldp_solve(&p), 1);
    double gradient[N];
    for (int k = 0; k < p.n; ++k) {
      gradient[k] = p.y[k] - p.y0[k];
    }
    for (int j = 0; j < p.nactive; ++j) {
      const int i = p.active[j];
      CHECK_NEAR(miss(i, p.y), 0, 1e-8);
      assert_true(i < p.nequal || p.u[j] >= -1e-9);
      for (int k = 0; k < p.n; ++k) {
        gradient[k] -= p.u[j] * rows[i][k];
      }
    }
    double size = 1;
    for (int j = 0; j < p.nactive; ++j) {
      size = fmax(size, fabs(p.u[j]));
    }
    for (int k = 0; k < p.n; ++k) {
      CHECK_NEAR(gradient[k], 0, 1e-8 * size);
    }
    for (int i = 0; i < p.nrow; ++i) {
      CHECK_LE(i < p.nequal ? fabs(miss(i, p.y)) : -miss(i, p.y), 1e-8);
    }
  }
}

// y ≥ 1 along a direction and −y ≥ 0 cannot both be.
static void contradictions_are_told(void** state) {
  (void)state;
  KitRandom r = {2};
  double inside[N];
  for (int t = 0; t < TRIALS; ++t) {
    make(&r, 0, inside);
    if (p.nrow == 0 || p.nrow == ROWS) {
      continue;
    }
    const int last = p.nrow;
    for (int k = 0; k < LD; ++k) {
      rows[last][k] = -rows[0][k];
    }
    tribo_sol_ldp_add(&p, rows[last], 1e-3 - p.b[0], 1e-10, 0);
    assert_int_equal(tribo_sol_ldp_solve(&p), 0);
    assert_in_range(p.blocked, 0, last);
  }
}

// How the answer follows small changes of its rows and of y0, against a second solve.
static void answers_respond_as_a_second_solve_says(void** state) {
  (void)state;
  KitRandom r = {3};
  double inside[N];
  int seen = 0;
  for (int t = 0; t < 200; ++t) {
    double e[LD] = {0}, c[LD] = {0}, dy[LD], y[LD];
    int active[N];
    make(&r, 2, inside);
    assert_int_equal(tribo_sol_ldp_solve(&p), 1);
    const int count = p.nactive;
    memcpy(y, p.y, sizeof y);
    memcpy(active, p.active, (size_t)count * sizeof *active);
    for (int k = 0; k < p.n; ++k) {
      c[k] = 1e-6 * kit_normal(&r);
    }
    tribo_sol_ldp_respond(&p, e, c, dy, NULL);
    for (int k = 0; k < p.n; ++k) {
      p.y0[k] -= c[k];
    }
    assert_int_equal(tribo_sol_ldp_solve(&p), 1);
    int same = p.nactive == count;
    for (int j = 0; same && j < count; ++j) {
      same = p.active[j] == active[j];
    }
    if (same) {
      seen++;
      for (int k = 0; k < p.n; ++k) {
        CHECK_NEAR(p.y[k] - y[k], dy[k], 1e-10);
      }
    }
  }
  assert_in_range(seen, 100, 200);
}

static int setup(void** state) {
  (void)state;
  return tribo_sol_ldp_create(&p, N, ROWS) != TRIBO_OK;
}
static int teardown(void** state) {
  (void)state;
  tribo_sol_ldp_free(&p);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(answers_obey_kkt), cmocka_unit_test(contradictions_are_told),
                                     cmocka_unit_test(answers_respond_as_a_second_solve_says)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
