// One body, one constraint, every mode: answers that can be written down.
#include "kit.h"

#include <tribo/solver.h>

static const char* const solvers[] = {"auto", "admm", "newton", "ipm"};
enum { SOLVERS = 4 };

// a body with `n` independent degrees of freedom, rows = velocities themselves
typedef struct One {
  TriboProblem p;
  TriboCone cone;
  double g[6], R[6], mass[36], minv[36], jac[36];
  int block_dim, term_first[2], term_block;
  size_t block_at, term_at;
} One;

static void one(One* o, TriboConeKind kind, int n, const double* mass, const double* velocity, const double* mu) {
  *o = (One){.cone = {.kind = kind, .dim = n}, .block_dim = n, .term_first = {0, 1}};
  for (int i = 0; i < n; ++i) {
    o->mass[i * n + i] = mass[i];
    o->minv[i * n + i] = 1 / mass[i];
    o->jac[i * n + i] = 1;
    o->g[i] = velocity[i];
    o->cone.mu[i < 5 ? i : 0] = i < n - 1 && mu ? mu[i] : o->cone.mu[i < 5 ? i : 0];
  }
  o->p = (TriboProblem){.nrow = n, .ncone = 1, .cones = &o->cone, .g = o->g, .R = o->R, .nblock = 1};
  o->p.block_dim = &o->block_dim;
  o->p.block_at = &o->block_at;
  o->p.mass = o->mass;
  o->p.minv = o->minv;
  o->p.term_first = o->term_first;
  o->p.term_block = &o->term_block;
  o->p.term_at = &o->term_at;
  o->p.jac = o->jac;
}

static void solve(const char* id, const One* o, double* lambda, double* sigma) {
  TriboSolver* s;
  TriboSolveStats stats;
  TriboResiduals r;
  CHECK_OK(tribo_solver_create(id, &s));
  CHECK_OK(tribo_solver_set(s, "max_iterations", 20000));
  CHECK_OK(tribo_solver_solve(s, &o->p, NULL, lambda, &stats));
  CHECK_OK(tribo_problem_residuals(&o->p, lambda, sigma, &r));
  if (stats.outcome != TRIBO_SOLVED) {
    print_error("%s: %s, nat %g, unit %g\n", id, tribo_outcome_name(stats.outcome), r.nat, r.natmap_unit);
    fail();
  }
  CHECK_LE(r.nat, fmax(1e-10, r.floor));
  CHECK_LE(r.natmap_unit, 1e-8);
  tribo_solver_destroy(s);
}

static void expect(const One* o, const double* lambda) {
  for (int k = 0; k < SOLVERS; ++k) {
    double l[6], s[6];
    solve(solvers[k], o, l, s);
    for (int i = 0; i < o->p.nrow; ++i) {
      CHECK_NEAR(l[i], lambda[i], 1e-8);
    }
  }
}

static const double M[3] = {2, 2, 2}, MU[2] = {0.5, 0.5};

static void block_at_rest(void** state) {
  (void)state;
  One o;
  one(&o, TRIBO_CONE_FRICTION, 3, M, (double[]){0, 0, -0.3}, MU);
  expect(&o, (double[]){0, 0, 0.6});
}

static void block_sticks(void** state) {
  (void)state;
  One o;
  one(&o, TRIBO_CONE_FRICTION, 3, M, (double[]){0.1, -0.05, -0.3}, MU);
  expect(&o, (double[]){-0.2, 0.1, 0.6});
}

static void block_slides(void** state) {
  (void)state;
  One o;
  one(&o, TRIBO_CONE_FRICTION, 3, M, (double[]){0.3, 0.4, -0.3}, MU);
  expect(&o, (double[]){-0.18, -0.24, 0.6});
}

static void block_separates(void** state) {
  (void)state;
  One o;
  one(&o, TRIBO_CONE_FRICTION, 3, M, (double[]){0.3, 0.4, 0.01}, MU);
  expect(&o, (double[]){0, 0, 0});
}

static void slippery_and_sticky_blocks(void** state) {
  (void)state;
  One o;
  one(&o, TRIBO_CONE_FRICTION, 3, M, (double[]){0.3, 0.4, -0.3}, (double[]){0, 0});
  expect(&o, (double[]){0, 0, 0.6});
  one(&o, TRIBO_CONE_FRICTION, 3, M, (double[]){0.3, 0.4, -0.3}, (double[]){5, 5});
  expect(&o, (double[]){-0.6, -0.8, 0.6});
}

static void compliance_shares_the_load(void** state) {
  (void)state;
  One o;
  one(&o, TRIBO_CONE_FRICTION, 3, M, (double[]){0, 0, -0.3}, MU);
  o.R[2] = 0.5;  // 1/m + R = 1
  expect(&o, (double[]){0, 0, 0.3});
}

static void limits_boxes_and_bilateral_rows(void** state) {
  (void)state;
  One o;
  one(&o, TRIBO_CONE_NONNEG, 1, (double[]){4}, (double[]){-0.5}, NULL);
  expect(&o, (double[]){2});
  one(&o, TRIBO_CONE_NONNEG, 1, (double[]){4}, (double[]){0.5}, NULL);
  expect(&o, (double[]){0});
  one(&o, TRIBO_CONE_BOX, 1, (double[]){4}, (double[]){-0.5}, NULL);
  o.cone.lo = -1, o.cone.hi = 1.5;
  expect(&o, (double[]){1.5});
  o.cone.hi = 3;
  expect(&o, (double[]){2});
  o.g[0] = 0.5;
  expect(&o, (double[]){-1});
  o.cone.lo = -INFINITY;
  expect(&o, (double[]){-2});
  o.cone.lo = o.cone.hi = 0.25;
  expect(&o, (double[]){0.25});
  one(&o, TRIBO_CONE_FREE, 3, (double[]){1, 2, 3}, (double[]){1, 1, -1}, NULL);
  expect(&o, (double[]){-1, -2, 3});
}

static void torsion_and_rolling(void** state) {
  (void)state;
  One o;
  double m4[4] = {2, 2, 0.1, 2}, mu4[3] = {0.5, 0.5, 0.01};
  // spinning fast: the torsional bound is used up, 0.01 · 0.6
  one(&o, TRIBO_CONE_FRICTION, 4, m4, (double[]){0, 0, 3, -0.3}, mu4);
  expect(&o, (double[]){0, 0, -0.006, 0.6});
  // slowly: it stops
  one(&o, TRIBO_CONE_FRICTION, 4, m4, (double[]){0, 0, 0.05, -0.3}, mu4);
  expect(&o, (double[]){0, 0, -0.005, 0.6});
  double m6[6] = {2, 2, 0.1, 0.1, 0.1, 2}, mu6[5] = {0.5, 0.5, 0.01, 0.02, 0.02};
  one(&o, TRIBO_CONE_FRICTION, 6, m6, (double[]){0, 0, 0, -2, 0, -0.3}, mu6);
  expect(&o, (double[]){0, 0, 0, 0.012, 0, 0.6});
  // without torsional friction the row carries nothing
  mu6[2] = 0;
  one(&o, TRIBO_CONE_FRICTION, 6, m6, (double[]){0.1, 0, 5, 0, 0, -0.3}, mu6);
  expect(&o, (double[]){-0.2, 0, 0, 0, 0, 0.6});
}

static void anisotropic_sliding_follows_the_ellipse(void** state) {
  (void)state;
  KitRandom r = {5};
  for (int t = 0; t < 50; ++t) {
    One o;
    int n = 3 + kit_int(&r, 4);
    double mass[6], v[6], mu[5];
    for (int i = 0; i < n; ++i) {
      mass[i] = pow(10, kit_uniform(&r, -1, 1));
      v[i] = kit_normal(&r);
      mu[i < 5 ? i : 4] = kit_uniform(&r, 0.05, 1);
    }
    v[n - 1] = -0.2;
    one(&o, TRIBO_CONE_FRICTION, n, mass, v, mu);
    for (int k = 0; k < SOLVERS; ++k) {
      double l[6], s[6], slip = 0;
      solve(solvers[k], &o, l, s);
      CHECK_NEAR(l[n - 1], 0.2 * mass[n - 1], 1e-8);
      for (int i = 0; i < n - 1; ++i) {
        slip += mu[i] * s[i] * mu[i] * s[i];
      }
      // sliding: λ_f = −λ_N D² σ_f / ‖D σ_f‖
      if (slip > 1e-12) {
        for (int i = 0; i < n - 1; ++i) {
          CHECK_NEAR(l[i], -l[n - 1] * mu[i] * mu[i] * s[i] / sqrt(slip), 1e-6);
        }
      }
    }
  }
}

static void nothing_to_do(void** state) {
  (void)state;
  TriboSolver* s;
  TriboSolveStats stats;
  TriboProblem p = {0};
  CHECK_OK(tribo_solver_create("auto", &s));
  CHECK_OK(tribo_solver_solve(s, &p, NULL, NULL, &stats));
  assert_int_equal(stats.outcome, TRIBO_SOLVED);
  assert_int_equal(stats.factorisations, 0);
  tribo_solver_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_at_rest),
      cmocka_unit_test(block_sticks),
      cmocka_unit_test(block_slides),
      cmocka_unit_test(block_separates),
      cmocka_unit_test(slippery_and_sticky_blocks),
      cmocka_unit_test(compliance_shares_the_load),
      cmocka_unit_test(limits_boxes_and_bilateral_rows),
      cmocka_unit_test(torsion_and_rolling),
      cmocka_unit_test(anisotropic_sliding_follows_the_ellipse),
      cmocka_unit_test(nothing_to_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
