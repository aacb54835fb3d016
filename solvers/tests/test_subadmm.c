// SubADMM: its impulses lie in their cones at any time, cuts of the motion do not change the answer, nor does the
// number of threads change a bit.
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "kit.h"

enum { MAX_ROW = 12000 };
static double lambda[MAX_ROW], other[MAX_ROW], sigma[MAX_ROW];

static TriboSolver* make(const char* id) {
  TriboSolver* s;
  CHECK_OK(tribo_solver_create(id, &s));
  return s;
}

static void set(TriboSolver* s, const char* key, double value) {
  CHECK_OK(tribo_solver_set(s, key, value));
}

static TriboResiduals solve(TriboSolver* s, const TriboProblem* p, const TriboWarmStart* warm, double* l,
                            TriboSolveStats* stats) {
  TriboResiduals r;
  CHECK_OK(tribo_solver_solve(s, p, warm, l, stats));
  CHECK_OK(tribo_problem_residuals(p, l, sigma, &r));
  return r;
}

static double largest(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static void impulses_lie_in_their_cones(void** state) {
  (void)state;
  static const int stops[] = {1, 2, 5, 17, 60};
  for (int split = 0; split <= 2; ++split) {
    for (int f = 0; f <= FAMILY_COUNT; ++f) {
      for (size_t k = 0; k < sizeof stops / sizeof stops[0]; ++k) {
        TriboSolver* s = make("subadmm");
        TriboSolveStats stats;
        FamilyProblem p;
        if (f < FAMILY_COUNT) {
          family_make(f, 4, 1, &p);
        } else {
          family_extended(1, 2, &p);
        }
        set(s, "split", split);
        set(s, "max_iterations", stops[k]);
        const TriboResiduals r = solve(s, &p.problem, NULL, lambda, &stats);
        CHECK_LE(r.prim, 1e-13 * largest(lambda, p.problem.nrow));
        assert_true(stats.iterations == stops[k] || stats.outcome == TRIBO_SOLVED);
        CHECK_NEAR(stats.nat, r.nat, 1e-6 * r.nat + r.floor + 1e-13);
        family_free(&p);
        tribo_solver_destroy(s);
      }
    }
  }
}

// ---- a tree with branches

enum { DOFS = 22, CONTACTS = 7 };

// A random tree whose contacts push one branch, or two against each other; its mass matrix is LᵀL with L along the
// branches.
static void branched(uint64_t seed, int* parent, FamilyProblem* out) {
  KitRandom r = {seed};
  double L[DOFS][DOFS] = {{0}}, v[DOFS];
  kit_bits(&r);
  family_allocate(out, 3 * CONTACTS, CONTACTS, 1, CONTACTS, DOFS * DOFS, 3 * CONTACTS * DOFS);
  out->block_dim[0] = out->nv = DOFS;
  for (int k = 0; k < DOFS; ++k) {
    // a floating base, then limbs of three
    parent[k] = k == 0 ? -1 : k < 6 || k % 3 != 0 ? k - 1 : k < 12 ? 5 : 5 + 3 * kit_int(&r, (k - 6) / 3);
    L[k][k] = kit_uniform(&r, 0.5, 2);
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      L[k][i] = 0.3 * kit_normal(&r);
    }
    v[k] = kit_normal(&r);
  }
  for (int i = 0; i < DOFS; ++i) {
    for (int j = 0; j < DOFS; ++j) {
      for (int k = 0; k < DOFS; ++k) {
        out->mass[DOFS * i + j] += L[k][i] * L[k][j];
      }
    }
  }
  // M⁻¹ column by column: Lᵀ y = e, L x = y
  for (int c = 0; c < DOFS; ++c) {
    double x[DOFS] = {0};
    x[c] = 1;
    for (int k = DOFS - 1; k >= 0; --k) {
      x[k] /= L[k][k];
      for (int i = 0; i < k; ++i) {
        x[i] -= L[k][i] * x[k];
      }
    }
    for (int k = 0; k < DOFS; ++k) {
      for (int i = 0; i < k; ++i) {
        x[k] -= L[k][i] * x[i];
      }
      x[k] /= L[k][k];
      out->minv[DOFS * k + c] = x[k];
    }
  }
  for (int c = 0; c < CONTACTS; ++c) {
    out->cones[c] = (TriboCone){.kind = TRIBO_CONE_FRICTION, .row = 3 * c, .dim = 3, .mu = {0.3, 0.3}};
    out->term_first[c + 1] = c + 1;
    out->term_at[c] = (size_t)(3 * DOFS * c);
    double* J = out->jac + out->term_at[c];
    for (int side = 0; side <= c % 2; ++side) {
      for (int k = 6 + kit_int(&r, DOFS - 6); k >= 0; k = parent[k]) {
        for (int i = 0; i < 3; ++i) {
          J[DOFS * i + k] = kit_normal(&r);
        }
      }
    }
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < DOFS; ++k) {
        out->g[3 * c + i] += J[DOFS * i + k] * v[k];
      }
    }
  }
}

static void cuts_do_not_change_the_answer(void** state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    int parent[DOFS];
    const int* parents[1] = {parent};
    FamilyProblem p;
    TriboSolveStats stats;
    branched(seed, parent, &p);
    TriboSolver* judge = make("auto");
    if (solve(judge, &p.problem, NULL, lambda, &stats).natmap_unit > 1e-8) {
      tribo_solver_destroy(judge);
      family_free(&p);
      continue;
    }
    tribo_solver_destroy(judge);
    p.problem.dof_parent = parents;
    for (int split = 0; split <= 2; ++split) {
      TriboSolver* s = make("subadmm");
      set(s, "split", split);
      set(s, "max_iterations", 20000);
      const TriboResiduals r = solve(s, &p.problem, NULL, other, &stats);
      if (r.natmap_unit <= 1e-8) {
        compared++;
        for (int i = 0; i < p.problem.nrow; ++i) {
          CHECK_NEAR(other[i], lambda[i], 1e-5 * largest(lambda, p.problem.nrow));
        }
      }
      tribo_solver_destroy(s);
    }
    family_free(&p);
  }
  print_message("%d of 36 compared\n", compared);
  assert_true(compared >= 30);
}

// A mass matrix that the tree does not explain is taken as a full one, and a wrong tree is refused.
static void trees_that_do_not_fit(void** state) {
  (void)state;
  int parent[DOFS];
  const int* parents[1] = {parent};
  FamilyProblem p;
  TriboSolveStats stats;
  branched(3, parent, &p);
  p.problem.dof_parent = parents;
  p.mass[DOFS * 9 + 6] += 1e-3;
  p.mass[DOFS * 6 + 9] += 1e-3;
  p.mass[DOFS * 21 + 7] = p.mass[DOFS * 7 + 21] = 1e-6;
  TriboSolver *s = make("subadmm"), *t = make("subadmm");
  set(s, "split", 1);
  solve(s, &p.problem, NULL, lambda, &stats);
  solve(t, &p.problem, NULL, other, &stats);
  assert_memory_equal(lambda, other, sizeof(double) * (size_t)p.problem.nrow);
  parent[5] = 5;
  CHECK_FAILS(tribo_solver_solve(t, &p.problem, NULL, other, &stats), TRIBO_INVALID, "dof_parent[0][5] = 5");
  tribo_solver_destroy(s);
  tribo_solver_destroy(t);
  family_free(&p);
}

// ---- threads, budgets, starts

static void threads_do_not_change_a_bit(void** state) {
  (void)state;
  static const int counts[] = {2, 3, 8};
  FamilyProblem p;
  TriboSolveStats stats;
  family_big_pile(500, 1, &p);
  assert_true(p.problem.nrow <= MAX_ROW);
  TriboSolver* s = make("subadmm");
  set(s, "max_iterations", 150);
  for (int again = 0; again < 3; ++again) {
    set(s, "threads", 1);
    solve(s, &p.problem, NULL, lambda, &stats);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
      set(s, "threads", counts[i]);
      solve(s, &p.problem, NULL, other, &stats);
      assert_memory_equal(lambda, other, sizeof(double) * (size_t)p.problem.nrow);
    }
  }
  tribo_solver_destroy(s);
  family_free(&p);
}

static void a_budget_is_kept(void** state) {
  (void)state;
  FamilyProblem p;
  TriboSolveStats stats;
  family_big_pile(120, 1, &p);
  TriboSolver* s = make("subadmm");
  set(s, "check_every", 0);
  set(s, "max_iterations", 100);
  solve(s, &p.problem, NULL, lambda, &stats);
  assert_int_equal(stats.iterations, 100);
  assert_int_equal(stats.outcome, TRIBO_MAX_ITER);
  set(s, "max_iterations", 1e7);
  set(s, "max_time", 0.01);
  const TriboResiduals r = solve(s, &p.problem, NULL, lambda, &stats);
  assert_int_equal(stats.outcome, TRIBO_TIME_OUT);
  assert_true(isfinite(r.nat));
  tribo_solver_destroy(s);
  family_free(&p);
}

static void warm_starts_go_on(void** state) {
  (void)state;
  int better = 0;
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    for (int split = 0; split <= 2; ++split) {
      static double old[MAX_ROW];
      FamilyProblem p;
      TriboSolveStats stats;
      family_make(f, 6, 2, &p);
      TriboSolver* s = make("subadmm");
      set(s, "split", split);
      const double cold = solve(s, &p.problem, NULL, lambda, &stats).natmap_unit;
      memcpy(old, lambda, sizeof old);
      const double warm =
          solve(s, &p.problem, &(TriboWarmStart){.lambda = old, .penalty = stats.penalty}, other, &stats).natmap_unit;
      better += warm < cold || warm <= 1e-8;
      CHECK_LE(warm, fmax(cold, 1e-8));
      tribo_solver_destroy(s);
      family_free(&p);
    }
  }
  assert_true(better >= 3 * FAMILY_COUNT - 6);
}

static void explicit_problems_and_one_penalty(void** state) {
  (void)state;
  TriboSolver* s = make("subadmm");
  int solved = 0;
  set(s, "max_iterations", 3000);
  for (int k = 0; k < 6; ++k) {
    FamilyProblem p, e;
    TriboSolveStats stats;
    family_make(8, 3, k, &p);
    family_explicit(&p, &e);
    for (int scaling = 0; scaling <= 1; ++scaling) {
      set(s, "scaling", scaling);
      solved += solve(s, &p.problem, NULL, lambda, &stats).natmap_unit <= 1e-6;
      solved += solve(s, &e.problem, NULL, other, &stats).natmap_unit <= 1e-6;
    }
    family_free(&e);
    family_free(&p);
  }
  print_message("%d of 24 solved\n", solved);
  assert_true(solved >= 16);
  tribo_solver_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_lie_in_their_cones),
      cmocka_unit_test(cuts_do_not_change_the_answer),
      cmocka_unit_test(trees_that_do_not_fit),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(a_budget_is_kept),
      cmocka_unit_test(warm_starts_go_on),
      cmocka_unit_test(explicit_problems_and_one_penalty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
