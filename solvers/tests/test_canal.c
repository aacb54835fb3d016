// CANAL: its inner loop falls, it solves all families, and few contacts or many it needs a number of factorisations
// that is known.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "families.h"
#include "kit.h"
#include "methods.h"

enum { MAX_ROW = 2400 };
static double lambda[MAX_ROW], other[MAX_ROW], sigma[MAX_ROW];

static TriboSolver* make(const char* id, double tol) {
  TriboSolver* s;
  CHECK_OK(tribo_solver_create(id, &s));
  CHECK_OK(tribo_solver_set(s, "whole", 1));
  CHECK_OK(tribo_solver_set(s, "tol", tol));
  return s;
}

// natmap_unit of the answer, by the independent residuals
static double solve(TriboSolver* s, const TriboProblem* p, const TriboWarmStart* warm, double* l,
                    TriboSolveStats* stats) {
  TriboResiduals r;
  CHECK_OK(tribo_solver_solve(s, p, warm, l, stats));
  CHECK_OK(tribo_problem_residuals(p, l, sigma, &r));
  return r.natmap_unit;
}

// ---- h(y) = ½ y·W y + ‖P_K(c − β (W y + q))‖²/2β falls

typedef struct Fall {
  double last;
  long steps;
} Fall;

// ‖P‖² of a cone at x
static double projected(const TriboScaled* sc, const TriboScaledCone* k, const double* x) {
  double sum = 0, f = 0;
  const double n = x[k->dim - 1];
  if (!k->round) {
    for (int i = 0; i < k->dim; ++i) {
      const double p = fmin(fmax(x[i], sc->lo[k->row + i]), sc->hi[k->row + i]);
      // (the distance to bounds that are not 0 counts, too: its gradient is x − p)
      sum += 2 * p * x[i] - p * p;
    }
    return sum;
  }
  for (int i = 0; i < k->dim - 1; ++i) {
    f += x[i] * x[i];
  }
  if (sqrt(f) <= k->mu * n) {
    return f + n * n;
  }
  // along the face's direction (μ, 1)/√(1 + μ²) of the half plane of x
  const double along = fmax(0, k->mu * sqrt(f) + n);
  return along * along / (1 + k->mu * k->mu);
}

static void check_fall(const TriboSolver* s, const TriboCanalPoint* point, void* user) {
  const TriboScaled* sc = &s->scaled;
  static double u[MAX_ROW], x[MAX_ROW];
  Fall* fall = user;
  double h = 0, size = 0;
  if (point->damped) {
    return;
  }
  tribo_sol_apply(sc, point->y, u);
  for (int i = 0; i < sc->n; ++i) {
    h += 0.5 * point->y[i] * u[i];
    x[i] = point->centre[i] - point->beta * (u[i] + sc->q[i]);
    size += x[i] * x[i];
  }
  for (int c = 0; c < sc->ncone; ++c) {
    h += projected(sc, &sc->cone[c], x + sc->cone[c].row) / (2 * point->beta);
  }
  if (point->step > 0) {
    // to what rounding of x leaves of it
    CHECK_LE(h, fall->last + 1e-14 * (fabs(h) + size / point->beta));
    fall->steps++;
  }
  fall->last = h;
}

static void the_lagrangian_falls_at_every_step(void** state) {
  (void)state;
  Fall fall = {0};
  TriboSolver* s = make("canal", 1e-8);
  CHECK_OK(tribo_solver_set(s, "max_iterations", 60));
  s->watch_canal = check_fall;
  s->watch_user = &fall;
  for (int f = 0; f <= FAMILY_COUNT; ++f) {
    for (int k = 0; k < 6; ++k) {
      FamilyProblem p;
      TriboSolveStats stats;
      if (f < FAMILY_COUNT) {
        family_make(f, 3, k, &p);
      } else {
        family_extended(1, k, &p);
      }
      solve(s, &p.problem, NULL, lambda, &stats);
      family_free(&p);
    }
  }
  assert_true(fall.steps > 1000);
  tribo_solver_destroy(s);
}

// ---- what it solves, and at what cost

static void all_families_are_solved(void** state) {
  (void)state;
  enum { PER = 58 };
  TriboSolver* s = make("canal", 1e-6);
  int solved = 0;
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    for (int k = 0; k < PER; ++k) {
      FamilyProblem p;
      TriboSolveStats stats;
      family_make(f, 2, k, &p);
      solved += solve(s, &p.problem, NULL, lambda, &stats) <= 1e-6;
      family_free(&p);
    }
  }
  assert_int_equal(solved, FAMILY_COUNT * PER);
  tribo_solver_destroy(s);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef struct Cost {
  double factorisations, time;  // medians to 1e-8; [µs] of processor time, least of three
} Cost;

static Cost cost_of(const char* id, void make_problem(uint64_t seed, FamilyProblem* out), int inner) {
  enum { COUNT = 21 };
  double count[COUNT], time[COUNT];
  TriboSolver* s = make(id, 1e-8);
  if (strcmp(id, "canal") == 0) {
    CHECK_OK(tribo_solver_set(s, "inner", inner));
  }
  for (int k = 0; k < COUNT; ++k) {
    FamilyProblem p;
    TriboSolveStats stats;
    make_problem((uint64_t)k, &p);
    time[k] = INFINITY;
    for (int again = 0; again < 3; ++again) {
      const clock_t begin = clock();
      CHECK_LE(solve(s, &p.problem, NULL, lambda, &stats), 1e-8);
      time[k] = fmin(time[k], 1e6 * (double)(clock() - begin) / CLOCKS_PER_SEC);
    }
    count[k] = stats.factorisations;
    family_free(&p);
  }
  tribo_solver_destroy(s);
  qsort(count, COUNT, sizeof *count, by_size);
  qsort(time, COUNT, sizeof *time, by_size);
  return (Cost){count[COUNT / 2], time[COUNT / 2]};
}

static void many_contacts_on_few_motions(void** state) {
  (void)state;
  static void (*const make_problem[2])(uint64_t, FamilyProblem*) = {family_nut, family_dishes};
  static const double most[2] = {30, 70};
  for (int i = 0; i < 2; ++i) {
    const Cost own = cost_of("canal", make_problem[i], 0), strict = cost_of("canal", make_problem[i], 1);
    const Cost other_one = cost_of("auto", make_problem[i], 0);
    print_message("%s: canal %g factorisations, %.0f us; strict law alone %g, %.0f; auto %g, %.0f\n",
                  i == 0 ? "nuts" : "dishes", own.factorisations, own.time, strict.factorisations, strict.time,
                  other_one.factorisations, other_one.time);
    CHECK_LE(own.factorisations, most[i]);
  }
}

static void unequal_cones(void** state) {
  (void)state;
  enum { COUNT = 40 };
  TriboSolver* s = make("canal", 1e-8);
  int solved = 0;
  for (int k = 0; k < COUNT; ++k) {
    FamilyProblem p;
    TriboSolveStats stats;
    family_extended(1, k, &p);
    solved += solve(s, &p.problem, NULL, lambda, &stats) <= 1e-8;
    family_free(&p);
  }
  CHECK_LE(COUNT - 1, solved);
  tribo_solver_destroy(s);
}

// Few contacts on many motions and little friction: one answer.
static void unique_answers_are_those_of_auto(void** state) {
  (void)state;
  TriboSolver *s = make("canal", 1e-10), *judge = make("auto", 1e-10);
  int compared = 0;
  for (int k = 0; k < 120; ++k) {
    FamilyProblem p;
    TriboSolveStats stats;
    family_make(4, 5, k, &p);
    for (int c = 0; c < p.problem.ncone; ++c) {
      p.cones[c].mu[0] = p.cones[c].mu[1] = 0.1;
    }
    if (3 * p.problem.nrow <= 2 * p.nv && solve(s, &p.problem, NULL, lambda, &stats) <= 1e-10 &&
        solve(judge, &p.problem, NULL, other, &stats) <= 1e-10) {
      // v⁺ by the rows: σ of both
      static double of_auto[MAX_ROW];
      TriboResiduals r;
      double size = 0;
      memcpy(of_auto, sigma, sizeof sigma);
      CHECK_OK(tribo_problem_residuals(&p.problem, lambda, sigma, &r));
      for (int i = 0; i < p.problem.nrow; ++i) {
        size = fmax(size, fmax(fabs(of_auto[i]), fabs(p.g[i])));
      }
      for (int i = 0; i < p.problem.nrow; ++i) {
        CHECK_NEAR(sigma[i], of_auto[i], 1e-7 * size);
      }
      compared++;
    }
    family_free(&p);
  }
  assert_true(compared >= 10);
  tribo_solver_destroy(s);
  tribo_solver_destroy(judge);
}

static void both_forms_and_warm_starts(void** state) {
  (void)state;
  TriboSolver* s = make("canal", 1e-8);
  long cold = 0, warm = 0;
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    FamilyProblem p, e;
    TriboSolveStats stats;
    static double old[MAX_ROW];
    family_make(f, 15, 1, &p);
    family_explicit(&p, &e);
    for (int form = 0; form < 3; ++form) {
      CHECK_OK(tribo_solver_set(s, "form", form));
      CHECK_LE(solve(s, &e.problem, NULL, other, &stats), 1e-8);
      CHECK_LE(solve(s, &p.problem, NULL, lambda, &stats), 1e-8);
    }
    cold += stats.factorisations;
    memcpy(old, sigma, sizeof sigma);
    CHECK_LE(solve(s, &p.problem, &(TriboWarmStart){.lambda = lambda, .sigma = old}, other, &stats), 1e-8);
    assert_int_equal(stats.factorisations, 0);
    family_perturb(&p, 1e-4, 3);
    CHECK_LE(solve(s, &p.problem, &(TriboWarmStart){.lambda = lambda, .sigma = old}, other, &stats), 1e-8);
    warm += stats.factorisations;
    family_free(&p);
    family_free(&e);
  }
  print_message("%ld factorisations cold, %ld warm\n", cold, warm);
  CHECK_LE((double)warm, 0.7 * (double)cold);
  tribo_solver_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lagrangian_falls_at_every_step), cmocka_unit_test(all_families_are_solved),
      cmocka_unit_test(many_contacts_on_few_motions),       cmocka_unit_test(unequal_cones),
      cmocka_unit_test(unique_answers_are_those_of_auto),   cmocka_unit_test(both_forms_and_warm_starts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
