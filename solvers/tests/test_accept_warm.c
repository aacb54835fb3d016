// Impulses of the step before that still fit: the answer, bit for bit, with no work.
#include <string.h>

#include "families.h"
#include "kit.h"
#include "solvers.h"

enum { MAX_ROW = 2400 };
static double lambda[MAX_ROW], sigma[MAX_ROW], again[MAX_ROW], built[MAX_ROW];

static TriboSolver* make(void) {
  TriboSolver* s;
  CHECK_OK(tribo_solver_create("auto", &s));
  return s;
}

// The answer of a problem solved again and again, until nothing is left to improve, is that of the solve before; the
// engine's own entry says the same as the public one.
static void expect_kept(TriboSolver* s, const TriboProblem* p) {
  const TriboWarmStart start = {.lambda = lambda, .sigma = sigma};
  const size_t bytes = sizeof(double) * (size_t)p->nrow;
  TriboSolveStats stats, own;
  TriboResiduals r;
  CHECK_OK(tribo_solver_solve(s, p, NULL, again, &stats));
  for (int round = 0; round < 4; ++round) {
    memcpy(lambda, again, bytes);
    CHECK_OK(tribo_problem_residuals(p, lambda, sigma, &r));
    CHECK_OK(tribo_solver_solve_built(s, p, &start, built, &own));
    CHECK_OK(tribo_solver_solve(s, p, &start, again, &stats));
    assert_memory_equal(built, again, bytes);
    assert_true(own.outcome == stats.outcome && own.nat == stats.nat && own.natmap_unit == 0);
    assert_true(own.rung == stats.rung && own.rungs_tried == stats.rungs_tried);
    assert_true(own.factorisations == stats.factorisations);
    CHECK_NEAR(own.time, 0, 0);
    CHECK_LE(1e-12, stats.time);
  }
  assert_int_equal(stats.outcome, TRIBO_SOLVED);
  if (stats.factorisations == 0) {
    assert_memory_equal(lambda, again, bytes);
    CHECK_NEAR(stats.nat, r.nat, 1e-6 * r.nat + r.floor);
  }
}

static void impulses_that_fit_come_back(void** state) {
  (void)state;
  TriboSolver* s = make();
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    FamilyProblem p, e;
    family_make(f, 3, 1, &p);
    family_explicit(&p, &e);
    expect_kept(s, &p.problem);
    expect_kept(s, &e.problem);
    family_free(&p);
    family_free(&e);
  }
  tribo_solver_destroy(s);
}

// ---- a point mass of 2 kg on a plane

typedef struct Point {
  TriboProblem p;
  TriboCone cone;
  double g[3];
} Point;

static void point(Point* o, double mu_1, double mu_2) {
  static const double mass[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, minv[9] = {.5, 0, 0, 0, .5, 0, 0, 0, .5};
  static const double jac[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const int dim[1] = {3}, first[2] = {0, 1}, block[1] = {0};
  static const size_t at[1] = {0};
  *o = (Point){.cone = {.kind = TRIBO_CONE_FRICTION, .dim = 3, .mu = {mu_1, mu_2}}, .g = {0, 0, -1}};
  o->p = (TriboProblem){.nrow = 3,
                        .ncone = 1,
                        .cones = &o->cone,
                        .g = o->g,
                        .nblock = 1,
                        .block_dim = dim,
                        .block_at = at,
                        .mass = mass,
                        .minv = minv,
                        .term_first = first,
                        .term_block = block,
                        .term_at = at,
                        .jac = jac};
}

// A support that misses its place by 2e-13 m/s is left alone, unless it has just come to miss that much.
static void supports_may_not_jump(void** state) {
  (void)state;
  TriboSolver* s = make();
  Point o;
  point(&o, 0.5, 0.5);
  o.g[2] = -1 + 2e-13;
  for (int jumps = 0; jumps < 2; ++jumps) {
    const double old[3] = {0, 0, 2}, speed[3] = {0, 0, jumps ? 1e-14 : 1e-13};
    double answer[3];
    TriboSolveStats stats;
    CHECK_OK(tribo_solver_solve(s, &o.p, &(TriboWarmStart){old, speed, NULL, 0}, answer, &stats));
    assert_int_equal(stats.outcome, TRIBO_SOLVED);
    assert_int_equal(stats.factorisations > 0, jumps);
    assert_int_equal(answer[2] != old[2], jumps);
  }
  // far better than asked, and nobody asks where it was
  const double old[3] = {0, 0, 2}, speed[3] = {0};
  double answer[3];
  TriboSolveStats stats;
  o.g[2] = -1 + 2e-14;
  CHECK_OK(tribo_solver_solve(s, &o.p, &(TriboWarmStart){old, speed, NULL, 0}, answer, &stats));
  assert_memory_equal(answer, old, sizeof old);
  tribo_solver_destroy(s);
}

// Along a direction without friction there is no impulse, whatever the step before had there.
static void no_impulse_without_friction(void** state) {
  (void)state;
  TriboSolver* s = make();
  Point o;
  for (int both = 0; both < 2; ++both) {
    point(&o, both ? 0 : 0.5, 0);
    o.g[1] = 0.25;
    const double old[3] = {0, 0.125, 2}, speed[3] = {0, 0.25, 0};
    double answer[3];
    TriboSolveStats stats;
    CHECK_OK(tribo_solver_solve(s, &o.p, &(TriboWarmStart){old, speed, NULL, 0}, answer, &stats));
    assert_int_equal(stats.outcome, TRIBO_SOLVED);
    assert_int_equal(stats.factorisations, 0);
    CHECK_NEAR(answer[1], 0, 0);
    CHECK_NEAR(answer[2], 2, 0);
  }
  tribo_solver_destroy(s);
}

// What the engine has built is not looked through, but numbers that are not finite are still refused by name.
static void what_is_not_finite_is_refused(void** state) {
  (void)state;
  TriboSolver* s = make();
  Point o;
  double answer[3];
  TriboSolveStats stats;
  const double bad[] = {NAN, INFINITY, -INFINITY}, old[3] = {0, 0, 2};
  for (int i = 0; i < 3; ++i) {
    point(&o, 0.5, 0.5);
    o.g[i] = bad[i];
    CHECK_FAILS(tribo_solver_solve_built(s, &o.p, &(TriboWarmStart){old, NULL, NULL, 0}, answer, &stats), TRIBO_INVALID,
                "g[");
    CHECK_FAILS(tribo_solver_solve_built(s, &o.p, NULL, answer, &stats), TRIBO_INVALID, "not finite");
  }
  point(&o, 0.5, 0.5);
  CHECK_FAILS(tribo_solver_solve_built(s, &o.p, &(TriboWarmStart){bad, NULL, NULL, 0}, answer, &stats), TRIBO_INVALID,
              "warm start");
  tribo_solver_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_that_fit_come_back),
      cmocka_unit_test(supports_may_not_jump),
      cmocka_unit_test(no_impulse_without_friction),
      cmocka_unit_test(what_is_not_finite_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
