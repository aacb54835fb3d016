// The solvers of the comparison by Tsounis, Grandia and Baecher: no two of them are the same, and each has the fixed
// point it says it has.
#include "families.h"
#include "kit.h"

static const char* const ids[] = {"pgs-ccp",      "pgs-ncp",  "nbgs",        "raisim",      "raisim-ds",
                                  "raisim-ds-es", "admm-ccp", "admm-ncp-fp", "admm-ncp-la", "admm-ncp-sa"};
enum { IDS = 10, CONTACTS = 3, ROWS = 3 * CONTACTS };

// A few contacts with a full random W: normal and friction rows are coupled within and between contacts.
typedef struct Dense {
  TriboProblem problem;
  TriboCone cones[CONTACTS];
  double g[ROWS], val[ROWS * ROWS];
  int col[ROWS + 1], row[ROWS * ROWS];
} Dense;

static void dense(Dense* d, int contacts, double coupling, double mu, uint64_t seed) {
  KitRandom r = {seed};
  int n = 3 * contacts;
  double B[ROWS * ROWS];
  *d = (Dense){.problem = {.nrow = n, .ncone = contacts, .cones = d->cones, .g = d->g}};
  for (int i = 0; i < n * n; ++i) {
    B[i] = (i % (n + 1) == 0) + coupling * kit_normal(&r);
  }
  for (int i = 0; i < n; ++i) {
    d->g[i] = i % 3 == 2 ? -kit_uniform(&r, 0.2, 1) : kit_uniform(&r, -2, 2);
    for (int j = 0; j < n; ++j) {
      d->row[n * i + j] = j;
      for (int k = 0; k < n; ++k) {
        d->val[n * i + j] += B[n * i + k] * B[n * j + k];
      }
    }
    d->col[i + 1] = n * (i + 1);
  }
  for (int c = 0; c < contacts; ++c) {
    d->cones[c] = (TriboCone){.kind = TRIBO_CONE_FRICTION, .row = 3 * c, .dim = 3, .mu = {mu, mu}};
  }
  d->problem.G_col = d->col;
  d->problem.G_row = d->row;
  d->problem.G_val = d->val;
}

static TriboSolveStats run(const char* id, const TriboProblem* p, int iterations, double* lambda) {
  TriboSolver* s;
  TriboSolveStats stats;
  CHECK_OK(tribo_solver_create(id, &s));
  CHECK_OK(tribo_solver_set(s, "max_iterations", iterations));
  CHECK_OK(tribo_solver_solve(s, p, NULL, lambda, &stats));
  tribo_solver_destroy(s);
  return stats;
}

// ‖λ − P_K(λ − σ)‖∞, with De Saxcé's term or without
static double natural_map(const TriboProblem* p, const double* lambda, int saxce) {
  double sigma[ROWS], most = 0;
  TriboResiduals r;
  CHECK_OK(tribo_problem_residuals(p, lambda, sigma, &r));
  for (int c = 0; c < p->ncone; ++c) {
    const double *l = lambda + 3 * c, *s = sigma + 3 * c;
    double mu = p->cones[c].mu[0], y[3] = {l[0] - s[0], l[1] - s[1], l[2] - s[2] - saxce * mu * hypot(s[0], s[1])};
    double t = hypot(y[0], y[1]), h = t <= mu * y[2] ? y[2] : mu * t <= -y[2] ? 0 : (y[2] + mu * t) / (1 + mu * mu);
    double f = t <= mu * y[2] ? 1 : h > 0 ? mu * h / t : 0;
    most = fmax(most, fmax(fabs(l[2] - h), hypot(l[0] - f * y[0], l[1] - f * y[1])));
  }
  return most;
}

static void no_two_are_the_same(void** state) {
  (void)state;
  // a pair differs when some problem of some hundred tells their iterates apart
  int differ[IDS][IDS] = {{0}};
  for (int k = 0; k < 300; ++k) {
    Dense d;
    double lambda[IDS][ROWS];
    dense(&d, 1 + k % CONTACTS, 0.3 + 0.2 * (k % 5), k % 2 ? 0.5 : 1.5, (uint64_t)k + 1);
    for (int i = 0; i < IDS; ++i) {
      run(ids[i], &d.problem, 60, lambda[i]);
    }
    for (int i = 0; i < IDS; ++i) {
      for (int j = 0; j < i; ++j) {
        for (int r = 0; r < d.problem.nrow; ++r) {
          differ[i][j] |= fabs(lambda[i][r] - lambda[j][r]) > 1e-7;
        }
      }
    }
  }
  for (int i = 0; i < IDS; ++i) {
    for (int j = 0; j < i; ++j) {
      if (!differ[i][j]) {
        print_error("%s and %s never differ\n", ids[i], ids[j]);
        fail();
      }
    }
  }
}

static void fixed_points_of_the_nonlinear_problem(void** state) {
  (void)state;
  static const char* const able[] = {"pgs-ccp", "pgs-ncp", "raisim-ds", "admm-ncp-fp", "admm-ncp-la", "admm-ncp-sa"};
  for (int m = 0; m < 6; ++m) {
    for (int k = 0; k < 40; ++k) {
      Dense d;
      double lambda[ROWS];
      dense(&d, CONTACTS, 0.1, 0.5, (uint64_t)k + 1);
      TriboSolveStats stats = run(able[m], &d.problem, 20000, lambda);
      if (stats.outcome != TRIBO_SOLVED) {
        print_error("%s, problem %d: %s, nat %g\n", able[m], k, tribo_outcome_name(stats.outcome), stats.nat);
        fail();
      }
      CHECK_LE(natural_map(&d.problem, lambda, 1), 1e-9);
    }
  }
}

static void fixed_points_of_the_relaxation(void** state) {
  (void)state;
  for (int m = 0; m < 2; ++m) {
    for (int k = 0; k < 40; ++k) {
      Dense d;
      double lambda[ROWS];
      dense(&d, CONTACTS, 0.1, 0.5, (uint64_t)k + 1);
      TriboSolver* s;
      TriboSolveStats stats;
      CHECK_OK(tribo_solver_create(m ? "pgs-ccp" : "admm-ccp", &s));
      CHECK_OK(tribo_solver_set(s, "max_iterations", 20000));
      if (m) {
        CHECK_OK(tribo_solver_set(s, "de_saxce", 0));
      }
      CHECK_OK(tribo_solver_solve(s, &d.problem, NULL, lambda, &stats));
      tribo_solver_destroy(s);
      CHECK_LE(natural_map(&d.problem, lambda, 0), 1e-9);
      // sliding contacts are lifted: not the problem's solution, and the statistics say so
      assert_true(natural_map(&d.problem, lambda, 1) > 1e-3);
      assert_true(stats.outcome == TRIBO_STALLED && stats.nat > 1e-3);
    }
  }
}

// least energy where the cone's face meets the plane without normal velocity, by trying all angles
static double least_energy(const Dense* d, double* lambda) {
  const double *D = d->val, mu = d->cones[0].mu[0];
  double best = INFINITY;
  for (int k = 0; k < 200000; ++k) {
    double a = 6.283185307179586 * k / 200000, x[3] = {mu * cos(a), mu * sin(a), 1}, normal = 0, energy = 0;
    for (int i = 0; i < 3; ++i) {
      normal += D[3 * 2 + i] * x[i];
    }
    double r = -d->g[2] / normal;
    if (r < 0) {
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      energy += r * x[i] * d->g[i];
      for (int j = 0; j < 3; ++j) {
        energy += 0.5 * r * r * x[i] * D[3 * i + j] * x[j];
      }
    }
    if (energy < best) {
      best = energy;
      for (int i = 0; i < 3; ++i) {
        lambda[i] = r * x[i];
      }
    }
  }
  return best;
}

static void exact_blocks(void** state) {
  (void)state;
  // without De Saxcé's term a sliding contact has the least energy on that curve, which is not Coulomb's answer
  int slides = 0, others = 0, local = 0;
  for (int k = 0; k < 60; ++k) {
    Dense d;
    double exact[3], bisected[3], expected[3] = {0};
    dense(&d, 1, 0.5, 0.5, (uint64_t)k + 1);
    run("nbgs", &d.problem, 1000, exact);
    run("raisim", &d.problem, 1000, bisected);
    if (hypot(exact[0], exact[1]) < 0.5 * exact[2] * (1 - 1e-9)) {
      // stick: both agree with everybody
      CHECK_LE(natural_map(&d.problem, exact, 1), 1e-9);
      continue;
    }
    slides++;
    least_energy(&d, expected);
    int same = 1;
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(exact[i], expected[i], 1e-3 * (1 + fabs(expected[i])));
      same &= fabs(exact[i] - bisected[i]) < 1e-9 * (1 + fabs(exact[i]));
    }
    local += !same;
    others += natural_map(&d.problem, exact, 1) > 1e-3;
  }
  assert_true(slides >= 20 && others >= 10);
  // one of them goes downhill from where it stands and may end in another valley, rarely
  assert_true(local <= 6);
  // no coupling of normal and friction: Coulomb's answer
  for (int m = 0; m < 2; ++m) {
    Dense d;
    double lambda[3];
    dense(&d, 1, 0, 0.5, 3);
    d.val[1] = d.val[3] = 0.4;
    assert_int_equal(run(m ? "raisim" : "nbgs", &d.problem, 1000, lambda).outcome, TRIBO_SOLVED);
    CHECK_LE(natural_map(&d.problem, lambda, 1), 1e-10);
  }
}

static void early_stop_is_early(void** state) {
  (void)state;
  int earlier = 0;
  for (int k = 0; k < 40; ++k) {
    Dense d;
    double a[ROWS], b[ROWS];
    dense(&d, CONTACTS, 0.3, 0.5, (uint64_t)k + 1);
    TriboSolveStats full = run("raisim-ds", &d.problem, 5000, a), early = run("raisim-ds-es", &d.problem, 5000, b);
    assert_true(early.iterations <= full.iterations);
    earlier += early.iterations < full.iterations && early.nat > full.nat;
    // not exact, yet near
    CHECK_LE(early.natmap_unit, 1e-2);
  }
  assert_true(earlier >= 30);
}

static void worlds_are_solved(void** state) {
  (void)state;
  // bodies, joints, limits and all kinds of cones in motion form; the explicit form gives the same
  static const char* const able[] = {"pgs-ccp", "raisim-ds"};
  for (int m = 0; m < 2; ++m) {
    int solved = 0;
    for (int f = 0; f < FAMILY_COUNT; ++f) {
      FamilyProblem p, e;
      static double a[2400], b[2400];
      family_make(f, 3, 1, &p);
      family_explicit(&p, &e);
      TriboSolveStats first = run(able[m], &p.problem, 3000, a), second = run(able[m], &e.problem, 3000, b);
      solved += first.natmap_unit < 1e-4;
      CHECK_NEAR(log10(first.natmap_unit + 1e-9), log10(second.natmap_unit + 1e-9), 1);
      family_free(&p);
      family_free(&e);
    }
    if (solved < 6) {
      print_error("%s came to 1e-4 on %d of %d families\n", able[m], solved, FAMILY_COUNT);
      fail();
    }
  }
  FamilyProblem p;
  static double lambda[2400];
  family_extended(1, 3, &p);
  CHECK_LE(run("pgs-ccp", &p.problem, 20000, lambda).natmap_unit, 1e-4);
  CHECK_LE(run("raisim-ds", &p.problem, 20000, lambda).natmap_unit, 1e-4);
  family_free(&p);
}

static void anderson_acceleration(void** state) {
  (void)state;
  // the same answers in fewer iterations
  int plain = 0, accelerated = 0;
  for (int k = 0; k < 40; ++k) {
    Dense d;
    double lambda[ROWS];
    dense(&d, CONTACTS, 0.5, 0.5, (uint64_t)k + 1);
    for (int depth = 0; depth <= 5; depth += 5) {
      TriboSolver* s;
      TriboSolveStats stats;
      CHECK_OK(tribo_solver_create("admm", &s));
      CHECK_OK(tribo_solver_set(s, "max_iterations", 20000));
      CHECK_OK(tribo_solver_set(s, "anderson", depth));
      CHECK_OK(tribo_solver_solve(s, &d.problem, NULL, lambda, &stats));
      assert_int_equal(stats.outcome, TRIBO_SOLVED);
      CHECK_LE(natural_map(&d.problem, lambda, 1), 1e-8);
      *(depth ? &accelerated : &plain) += stats.iterations;
      tribo_solver_destroy(s);
    }
  }
  CHECK_LE(accelerated, 0.8 * plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_two_are_the_same),
      cmocka_unit_test(fixed_points_of_the_nonlinear_problem),
      cmocka_unit_test(fixed_points_of_the_relaxation),
      cmocka_unit_test(exact_blocks),
      cmocka_unit_test(early_stop_is_early),
      cmocka_unit_test(worlds_are_solved),
      cmocka_unit_test(anderson_acceleration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
