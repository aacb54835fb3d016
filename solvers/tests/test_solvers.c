// Solvers against each other and against the independent residuals, on random problems of all families.
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "kit.h"
#include "memory.h"

enum { MAX_ROW = 2400, METHODS = 4, REGISTERED = 16 };
static const char* const ids[METHODS] = {"auto", "ipm", "newton", "admm"};

static double lambda[MAX_ROW], other[MAX_ROW], sigma[MAX_ROW];

static TriboSolver* make(const char* id) {
  TriboSolver* s;
  CHECK_OK(tribo_solver_create(id, &s));
  return s;
}

// solves, and checks that the statistics say what the independent residuals say
static TriboSolveStats solve(TriboSolver* s, const TriboProblem* p, const TriboWarmStart* warm, double* l) {
  TriboSolveStats stats;
  TriboResiduals r;
  CHECK_OK(tribo_solver_solve(s, p, warm, l, &stats));
  CHECK_OK(tribo_problem_residuals(p, l, sigma, &r));
  int good = r.nat <= fmax(1e-10, r.floor) && r.natmap_unit <= 1e-8;
  if (stats.outcome == TRIBO_SOLVED && !good) {
    print_error("solved, but nat %g (floor %g), natmap_unit %g\n", r.nat, r.floor, r.natmap_unit);
    fail();
  }
  CHECK_NEAR(stats.nat, r.nat, 1e-6 * r.nat + r.floor + 1e-13);
  // rows without friction leave the solver's account of ‖σ‖, which may only make it stricter
  CHECK_LE(r.natmap_unit, stats.natmap_unit * (1 + 1e-6) + 1e-13);
  return stats;
}

static void every_method_solves_its_share(void** state) {
  (void)state;
  // of 90; a single method is not expected to solve all of them, the ladder is
  static const int least[METHODS] = {89, 80, 70, 50};
  enum { PER = 10 };
  for (int m = 0; m < METHODS; ++m) {
    TriboSolver* s = make(ids[m]);
    int solved = 0;
    for (int f = 0; f < FAMILY_COUNT; ++f) {
      for (int k = 0; k < PER; ++k) {
        FamilyProblem p;
        family_make(f, 11, k, &p);
        solved += solve(s, &p.problem, NULL, lambda).outcome == TRIBO_SOLVED;
        family_free(&p);
      }
    }
    if (solved < least[m]) {
      print_error("%s solved %d of %d, expected at least %d\n", ids[m], solved, FAMILY_COUNT * PER, least[m]);
      fail();
    }
    tribo_solver_destroy(s);
  }
}

static void unique_answers_agree(void** state) {
  (void)state;
  // few contacts on many degrees of freedom and little friction: one answer
  int compared = 0;
  for (int k = 0; k < 40; ++k) {
    FamilyProblem p;
    family_make(4, 5, k, &p);
    int rows = p.problem.nrow;
    for (int c = 0; c < p.problem.ncone; ++c) {
      p.cones[c].mu[0] = p.cones[c].mu[1] = 0.1;
    }
    if (3 * rows > p.nv * 2) {
      family_free(&p);
      continue;
    }
    TriboSolver* s = make("auto");
    assert_int_equal(solve(s, &p.problem, NULL, lambda).outcome, TRIBO_SOLVED);
    tribo_solver_destroy(s);
    double size = 0;
    for (int i = 0; i < rows; ++i) {
      size = fmax(size, fabs(lambda[i]));
    }
    for (int m = 1; m < METHODS; ++m) {
      s = make(ids[m]);
      CHECK_OK(tribo_solver_set(s, "max_iterations", 20000));
      if (solve(s, &p.problem, NULL, other).outcome == TRIBO_SOLVED) {
        compared++;
        for (int i = 0; i < rows; ++i) {
          CHECK_NEAR(other[i], lambda[i], 1e-5 * size);
        }
      }
      tribo_solver_destroy(s);
    }
    family_free(&p);
  }
  assert_true(compared >= 10);
}

// Problems whose central path turns back: proximal points and the interior point stall there, the path followed by its
// length arrives.
static void paths_are_followed_through_their_folds(void** state) {
  (void)state;
  static const struct {
    int family, index;
    uint64_t seed;
  } folded[] = {{0, 28, 2}, {0, 55, 2}, {1, 25, 2}, {1, 51, 2}, {2, 40, 2}, {5, 15, 2}, {5, 27, 2}};
  TriboSolver* s = make("auto");
  int followed = 0;
  for (size_t k = 0; k < sizeof folded / sizeof folded[0]; ++k) {
    FamilyProblem p;
    family_make(folded[k].family, folded[k].seed, folded[k].index, &p);
    const TriboSolveStats stats = solve(s, &p.problem, NULL, lambda);
    assert_int_equal(stats.outcome, TRIBO_SOLVED);
    followed += stats.rung == TRIBO_RUNG_PATH || stats.rung == TRIBO_RUNG_PATH_COLD;
    family_free(&p);
  }
  print_message("%d of 7 followed\n", followed);
  assert_true(followed >= 5);
  tribo_solver_destroy(s);
}

// keeps a list of counts sorted as one more comes in
static void insert_sorted(int* list, int n, int count) {
  for (; n > 0 && list[n - 1] > count; --n) {
    list[n] = list[n - 1];
  }
  list[n] = count;
}

// Medians of a prototype on families of the same make, cold. It stops at natmap_unit 1e-8 and does not ask for 1e-10
// m/s of every contact; asked for the same, no more than 1.2 times as many may be needed.
static const int prototype[FAMILY_COUNT] = {14, 8, 9, 11, 7, 9, 10, 8, 5};

static void generated_problems_are_solved(void** state) {
  (void)state;
  // 9 families of 58, cold and then with the free velocity moved by 1e-3: 99.8 % of each to full tolerance
  enum { PER = 58 };
  TriboSolver *s = make("auto"), *loose = make("auto");
  CHECK_OK(tribo_solver_set(loose, "whole", 1));
  CHECK_OK(tribo_solver_set(loose, "tol", 1e-8));
  int cold = 0, warm = 0, all[FAMILY_COUNT * PER], first[PER], again[PER];
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    for (int k = 0; k < PER; ++k) {
      FamilyProblem p;
      family_make(f, 2, k, &p);
      TriboSolveStats stats;
      CHECK_OK(tribo_solver_solve(loose, &p.problem, NULL, lambda, &stats));
      insert_sorted(first, k, stats.factorisations);
      stats = solve(s, &p.problem, NULL, lambda);
      cold += stats.outcome == TRIBO_SOLVED;
      family_perturb(&p, 1e-3, (uint64_t)k);
      TriboWarmStart start = {.lambda = lambda, .sigma = sigma};
      static double old_sigma[MAX_ROW];
      memcpy(old_sigma, sigma, sizeof sigma);
      start.sigma = old_sigma;
      stats = solve(s, &p.problem, &start, other);
      warm += stats.outcome == TRIBO_SOLVED;
      insert_sorted(again, k, stats.factorisations);
      insert_sorted(all, f * PER + k, stats.factorisations);
      family_free(&p);
    }
    print_message("%-6s factorisations, median: %d cold, %d warm\n", family_names[f], first[PER / 2], again[PER / 2]);
    CHECK_LE(first[PER / 2], 1.2 * prototype[f]);
  }
  print_message("%d cold and %d warm of %d solved\n", cold, warm, FAMILY_COUNT * PER);
  CHECK_LE(0.998 * FAMILY_COUNT * PER, cold);
  CHECK_LE(0.998 * FAMILY_COUNT * PER, warm);
  CHECK_LE(all[FAMILY_COUNT * PER / 2], 2);
  tribo_solver_destroy(loose);
  tribo_solver_destroy(s);
}

static void warm_start_reduces_work(void** state) {
  (void)state;
  for (int m = 0; m < METHODS; ++m) {
    TriboSolver* s = make(ids[m]);
    int cold = 0, warm = 0;
    for (int k = 0; k < 10; ++k) {
      FamilyProblem p;
      family_make(7, 12, k, &p);
      TriboSolveStats first = solve(s, &p.problem, NULL, lambda);
      if (first.outcome == TRIBO_SOLVED) {
        static double old_sigma[MAX_ROW];
        memcpy(old_sigma, sigma, sizeof sigma);
        TriboWarmStart start = {.lambda = lambda, .sigma = old_sigma};
        family_perturb(&p, 1e-4, 3);
        TriboSolveStats second = solve(s, &p.problem, &start, other);
        cold += first.iterations;
        warm += second.iterations;
      }
      family_free(&p);
    }
    if (warm >= cold) {
      print_error("%s: %d iterations warm, %d cold\n", ids[m], warm, cold);
      fail();
    }
    tribo_solver_destroy(s);
  }
}

// A problem that stays the same costs nothing from its third solve on, one that moves is solved anew.
static void old_impulses_that_fit_are_kept(void** state) {
  (void)state;
  TriboSolver* s = make("auto");
  FamilyProblem p;
  family_tower_at_rest(1, 0.02, &p);
  TriboSolveStats stats = solve(s, &p.problem, NULL, lambda);
  assert_true(stats.factorisations > 0);
  static double old_lambda[MAX_ROW], old_sigma[MAX_ROW];
  const TriboWarmStart start = {.lambda = old_lambda, .sigma = old_sigma};
  for (int again = 0; again < 3; ++again) {
    memcpy(old_lambda, lambda, sizeof lambda);
    memcpy(old_sigma, sigma, sizeof sigma);
    stats = solve(s, &p.problem, &start, lambda);
    assert_int_equal(stats.outcome, TRIBO_SOLVED);
  }
  assert_int_equal(stats.factorisations, 0);
  assert_int_equal(stats.rung, TRIBO_RUNG_WARM);
  memcpy(old_lambda, lambda, sizeof lambda);
  memcpy(old_sigma, sigma, sizeof sigma);
  family_perturb(&p, 1e-3, 1);
  stats = solve(s, &p.problem, &start, lambda);
  assert_int_equal(stats.outcome, TRIBO_SOLVED);
  assert_true(stats.factorisations > 0);
  family_free(&p);
  tribo_solver_destroy(s);
}

static void unknown_cones_start_open(void** state) {
  (void)state;
  FamilyProblem p;
  family_make(0, 13, 2, &p);
  TriboSolver* s = make("auto");
  static double old_sigma[MAX_ROW];
  assert_int_equal(solve(s, &p.problem, NULL, lambda).outcome, TRIBO_SOLVED);
  memcpy(old_sigma, sigma, sizeof sigma);
  unsigned char known[MAX_ROW];
  for (int c = 0; c < p.problem.ncone; ++c) {
    known[c] = c % 3 != 0;
  }
  // whatever is written where nothing is known must not matter
  static double a[MAX_ROW], b[MAX_ROW], start_l[MAX_ROW];
  memcpy(start_l, lambda, sizeof lambda);
  TriboWarmStart start = {start_l, old_sigma, known, 0};
  assert_int_equal(solve(s, &p.problem, &start, a).outcome, TRIBO_SOLVED);
  for (int c = 0; c < p.problem.ncone; c += 3) {
    for (int i = 0; i < p.cones[c].dim; ++i) {
      start_l[p.cones[c].row + i] = old_sigma[p.cones[c].row + i] = 1e3;
    }
  }
  assert_int_equal(solve(s, &p.problem, &start, b).outcome, TRIBO_SOLVED);
  assert_memory_equal(a, b, sizeof(double) * (size_t)p.problem.nrow);
  memset(known, 0, sizeof known);
  TriboSolveStats none = solve(s, &p.problem, &start, b);
  assert_int_equal(none.rungs_tried & (1u << TRIBO_RUNG_WARM), 0);
  start_l[0] = NAN;
  TriboSolveStats stats;
  CHECK_FAILS(tribo_solver_solve(s, &p.problem, &start, b, &stats), TRIBO_INVALID, "warm start");
  tribo_solver_destroy(s);
  family_free(&p);
}

static void unit_of_mass_does_not_matter(void** state) {
  (void)state;
  for (int m = 0; m < METHODS; ++m) {
    TriboSolver* s = make(ids[m]);
    for (int f = 0; f < FAMILY_COUNT; ++f) {
      for (int sign = -1; sign <= 1; sign += 2) {
        FamilyProblem p;
        family_make(f, 14, 1, &p);
        TriboSolveStats a = solve(s, &p.problem, NULL, lambda);
        family_scale_mass(&p, ldexp(1, 20 * sign));
        TriboSolveStats b = solve(s, &p.problem, NULL, other);
        assert_int_equal(a.iterations, b.iterations);
        assert_int_equal(a.factorisations, b.factorisations);
        for (int i = 0; i < p.problem.nrow; ++i) {
          CHECK_NEAR(ldexp(lambda[i], 20 * sign), other[i], 0);
        }
        family_free(&p);
      }
    }
    tribo_solver_destroy(s);
  }
}

static void forms_of_the_linear_algebra_agree(void** state) {
  (void)state;
  // dense constraints, sparse motion, and explicit G both ways
  TriboSolver* s = make("auto");
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    for (int k = 0; k < 4; ++k) {
      FamilyProblem p, e;
      family_make(f, 15, k, &p);
      family_explicit(&p, &e);
      for (int way = 0; way < 4; ++way) {
        CHECK_OK(tribo_solver_set(s, "form", 1 + way % 2));
        assert_int_equal(solve(s, way < 2 ? &p.problem : &e.problem, NULL, other).outcome, TRIBO_SOLVED);
      }
      family_free(&p);
      family_free(&e);
    }
  }
  tribo_solver_destroy(s);
}

static void mass_ratios_and_large_friction(void** state) {
  (void)state;
  TriboSolver* s = make("auto");
  for (int power = 2; power <= 8; ++power) {
    for (int up = 0; up < 2; ++up) {
      for (int mu = 0; mu < 3; ++mu) {
        // a tower whose top is 10^power times its bottom, or the other way round
        FamilyProblem p;
        family_tower_at_rest(1, 0.02, &p);
        for (int b = 0; b < 5; ++b) {
          double f = pow(10, power * (up ? b : 4 - b) / 4.0 - b);
          for (int i = 0; i < 36; ++i) {
            p.mass[36 * b + i] *= f;
            p.minv[36 * b + i] /= f;
          }
        }
        for (int c = 0; c < p.problem.ncone; ++c) {
          p.cones[c].mu[0] = p.cones[c].mu[1] = mu == 0 ? 0 : mu == 1 ? 0.5 : 5;
        }
        TriboSolveStats stats = solve(s, &p.problem, NULL, lambda);
        if (stats.outcome != TRIBO_SOLVED) {
          print_error("1e%d %s mu %d: %s nat %g unit %g\n", power, up ? "up" : "down", mu,
                      tribo_outcome_name(stats.outcome), stats.nat, stats.natmap_unit);
          fail();
        }
        family_free(&p);
      }
    }
  }
  tribo_solver_destroy(s);
}

static void extended_cones(void** state) {
  (void)state;
  // torsion, rolling, anisotropy: every problem by the ladder, most by the interior point alone, cold and warm
  enum { COUNT = 60 };
  TriboSolver *s = make("auto"), *ipm = make("ipm");
  int solved = 0, alone = 0, warm = 0;
  for (int k = 0; k < COUNT; ++k) {
    static double old_sigma[MAX_ROW];
    FamilyProblem p;
    family_extended(1, k, &p);
    alone += solve(ipm, &p.problem, NULL, other).outcome == TRIBO_SOLVED;
    solved += solve(s, &p.problem, NULL, lambda).outcome == TRIBO_SOLVED;
    memcpy(old_sigma, sigma, sizeof sigma);
    family_perturb(&p, 1e-3, 2);
    TriboWarmStart start = {.lambda = lambda, .sigma = old_sigma};
    warm += solve(s, &p.problem, &start, other).outcome == TRIBO_SOLVED;
    family_free(&p);
  }
  CHECK_LE(COUNT - 1, solved);
  CHECK_LE(COUNT - 1, warm);
  CHECK_LE(0.8 * COUNT, alone);
  tribo_solver_destroy(s);
  tribo_solver_destroy(ipm);
}

static void large_pile(void** state) {
  (void)state;
  // 120 boxes, more than 600 contacts: only the sparse form can do this in reasonable time
  FamilyProblem p;
  family_big_pile(120, 1, &p);
  assert_true(p.problem.ncone >= 500 && p.problem.nrow <= MAX_ROW);
  static const char* const able[] = {"auto", "ipm"};
  for (int m = 0; m < 2; ++m) {
    TriboSolver* s = make(able[m]);
    assert_int_equal(solve(s, &p.problem, NULL, lambda).outcome, TRIBO_SOLVED);
    tribo_solver_destroy(s);
  }
  family_free(&p);
}

static void poor_guesses_among_many_contacts_cost_little(void** state) {
  (void)state;
  // bodies that fall on each other: the impulses before are worse than none. Newton alone takes 130 factorisations from
  // them, and 35 from what ADMM makes of them
  enum { COUNT = 5 };
  TriboSolver* s = make("auto");
  int factorisations = 0;
  for (int k = 1; k <= COUNT; ++k) {
    FamilyProblem p;
    family_big_pile(120, (uint64_t)k, &p);
    assert_int_equal(solve(s, &p.problem, NULL, other).outcome, TRIBO_SOLVED);
    family_perturb(&p, 3, 7);
    const TriboSolveStats stats = solve(s, &p.problem, &(TriboWarmStart){.lambda = other, .sigma = sigma}, lambda);
    assert_int_equal(stats.outcome, TRIBO_SOLVED);
    factorisations += stats.factorisations;
    family_free(&p);
  }
  CHECK_LE(factorisations, 60 * COUNT);
  tribo_solver_destroy(s);
}

static void contradicting_rows_are_infeasible(void** state) {
  (void)state;
  // a chain whose first two links are both pinned to the ground by the same rows at different speeds, among contacts
  for (int m = 0; m < METHODS; ++m) {
    FamilyProblem p;
    family_make(6, 16, 3, &p);
    int c = 0, seen = 0, pinned[2] = {0};
    for (; seen < 2; ++c) {
      if (p.cones[c].kind == TRIBO_CONE_FREE && p.cones[c].dim == 3) {
        pinned[seen++] = c;
      }
    }
    int first = p.term_first[pinned[0]], last = p.term_first[pinned[0] + 1];
    int other_first = p.term_first[pinned[1]], other_last = p.term_first[pinned[1] + 1];
    for (int t = 0; t < other_last - other_first; ++t) {
      // the second pin repeats the terms of the first; a term too many acts by nothing
      p.term_block[other_first + t] = t < last - first ? p.term_block[first + t] : p.problem.nblock - 1;
      if (t < last - first) {
        p.term_at[other_first + t] = p.term_at[first + t];
      } else {
        memset(p.jac + p.term_at[other_first + t], 0, 18 * sizeof(double));
      }
    }
    for (int i = 0; i < 3; ++i) {
      p.g[p.cones[pinned[1]].row + i] = p.g[p.cones[pinned[0]].row + i] + 0.1;
    }
    TriboSolver* s = make(ids[m]);
    CHECK_OK(tribo_solver_set(s, "max_time", 5));
    TriboSolveStats stats;
    CHECK_OK(tribo_solver_solve(s, &p.problem, NULL, lambda, &stats));
    assert_int_equal(stats.outcome, strcmp(ids[m], "auto") == 0 ? TRIBO_RELAXED : TRIBO_INFEASIBLE);
    for (int i = 0; i < p.problem.nrow; ++i) {
      assert_true(isfinite(lambda[i]));
    }
    tribo_solver_destroy(s);
    family_free(&p);
  }
}

static void redundant_rows_are_not_infeasible(void** state) {
  (void)state;
  // two equal bilateral rows on one body, same bias: the load is shared
  TriboCone cones[2] = {{.kind = TRIBO_CONE_FREE, .row = 0, .dim = 1}, {.kind = TRIBO_CONE_FREE, .row = 1, .dim = 1}};
  double g[2] = {-1, -1}, val[4] = {1, 1, 1, 1};
  int col[3] = {0, 2, 4}, row[4] = {0, 1, 0, 1};
  TriboProblem p = {.nrow = 2, .ncone = 2, .cones = cones, .g = g};
  p.G_col = col;
  p.G_row = row;
  p.G_val = val;
  for (int m = 0; m < METHODS; ++m) {
    TriboSolver* s = make(ids[m]);
    assert_int_equal(solve(s, &p, NULL, lambda).outcome, TRIBO_SOLVED);
    CHECK_NEAR(lambda[0] + lambda[1], 1, 1e-9);
    tribo_solver_destroy(s);
  }
}

static void answers_do_not_depend_on_history(void** state) {
  (void)state;
  static double fresh[FAMILY_COUNT][MAX_ROW];
  FamilyProblem p[FAMILY_COUNT];
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    family_make(f, 17, 0, &p[f]);
    TriboSolver* s = make("auto");
    solve(s, &p[f].problem, NULL, fresh[f]);
    tribo_solver_destroy(s);
  }
  TriboSolver* s = make("auto");
  for (int pass = 0; pass < 2; ++pass) {
    uint64_t growth = tribo_growth_count();
    for (int f = 0; f < FAMILY_COUNT; ++f) {
      TriboSolveStats stats;
      CHECK_OK(tribo_solver_solve(s, &p[f].problem, NULL, lambda, &stats));
      assert_memory_equal(lambda, fresh[f], sizeof(double) * (size_t)p[f].problem.nrow);
    }
    assert_true(pass == 0 || tribo_growth_count() == growth);
  }
  tribo_solver_destroy(s);
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    family_free(&p[f]);
  }
}

typedef struct Log {
  int calls, last;
  double best;
} Log;

static void log_residual(int iteration, TriboRung rung, double nat, double natmap_unit, void* user) {
  Log* log = user;
  assert_true(iteration >= log->last && rung < TRIBO_RUNG_COUNT && natmap_unit >= 0);
  log->calls++;
  log->last = iteration;
  log->best = fmin(log->best, nat);
}

static void history_and_budgets(void** state) {
  (void)state;
  FamilyProblem p;
  family_make(0, 2, 3, &p);
  for (int m = 0; m < METHODS; ++m) {
    TriboSolver* s = make(ids[m]);
    Log log = {.best = INFINITY};
    tribo_solver_set_history(s, log_residual, &log);
    TriboSolveStats stats = solve(s, &p.problem, NULL, lambda);
    assert_true(log.calls > 1 && log.last <= stats.iterations);
    CHECK_LE(log.best, stats.nat);
    // one iteration, and no time at all
    tribo_solver_set_history(s, NULL, NULL);
    CHECK_OK(tribo_solver_set(s, "max_iterations", 1));
    stats = solve(s, &p.problem, NULL, lambda);
    assert_int_equal(stats.outcome, TRIBO_MAX_ITER);
    CHECK_OK(tribo_solver_set(s, "max_iterations", 1000));
    CHECK_OK(tribo_solver_set(s, "max_time", 1e-9));
    stats = solve(s, &p.problem, NULL, lambda);
    assert_int_equal(stats.outcome, TRIBO_TIME_OUT);
    tribo_solver_destroy(s);
  }
  family_free(&p);
}

static void registry_and_settings(void** state) {
  (void)state;
  assert_int_equal(tribo_solver_count(), REGISTERED);
  assert_null(tribo_solver_info(-1));
  assert_null(tribo_solver_info(REGISTERED));
  assert_null(tribo_solver_find("siconos"));
  for (int i = 0; i < REGISTERED; ++i) {
    const TriboSolverInfo* info = tribo_solver_info(i);
    assert_ptr_equal(tribo_solver_find(info->id), info);
    assert_true(strlen(info->summary) > 10 && strlen(info->reference) > 5 && info->nsetting >= 5);
    TriboSolver* s = make(info->id);
    for (int k = 0; k < info->nsetting; ++k) {
      double value;
      CHECK_OK(tribo_solver_get(s, info->settings[k].name, &value));
      CHECK_NEAR(value, info->settings[k].init, 0);
      CHECK_OK(tribo_solver_set(s, info->settings[k].name, info->settings[k].max));
      CHECK_FAILS(tribo_solver_set(s, info->settings[k].name, NAN), TRIBO_INVALID, info->settings[k].name);
    }
    CHECK_FAILS(tribo_solver_set(s, "tool", 1), TRIBO_NOT_FOUND, "did you mean 'tol'?");
    tribo_solver_destroy(s);
  }
  TriboSolver* s;
  CHECK_FAILS(tribo_solver_create("newtn", &s), TRIBO_NOT_FOUND, "did you mean 'newton'?");
  assert_null(s);
  CHECK_FAILS(tribo_solver_create(NULL, &s), TRIBO_INVALID, "NULL");
  s = make("auto");
  TriboSolveStats stats;
  TriboProblem bad = {.nrow = 1};
  CHECK_FAILS(tribo_solver_solve(s, &bad, NULL, lambda, &stats), TRIBO_INVALID, "NULL");
  CHECK_FAILS(tribo_solver_solve(s, NULL, NULL, lambda, &stats), TRIBO_INVALID, "NULL");
  tribo_solver_destroy(s);
  tribo_solver_destroy(NULL);
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    assert_string_not_equal(tribo_rung_name((TriboRung)i), "unknown");
  }
  assert_string_equal(tribo_outcome_name(TRIBO_INFEASIBLE), "infeasible");
}

// Where two pins of a link ask for speeds that differ, both give way alike, as their rows weigh the same: the answer is
// exactly that of the problem with the g that is told, nothing else changes, and impulses stay as they are without the
// second pin.
static void contradictions_are_relaxed_least(void** state) {
  (void)state;
  const double apart = 0.1;
  TriboSolver* s = make("auto");
  for (int k = 0; k < 20; ++k) {
    TriboCone cones[3] = {{.kind = TRIBO_CONE_FREE, .row = 0, .dim = 1},
                          {.kind = TRIBO_CONE_FREE, .row = 1, .dim = 1},
                          {.kind = TRIBO_CONE_FRICTION, .row = 2, .dim = 3, .mu = {0.5, 0.5}}};
    // two bodies of masses 1 and 10^k/4, in contact; the first is pinned twice along x
    const double m = pow(10, -0.25 * k);
    double g[5] = {-1, -1 - apart, 0, 0, -0.3}, val[17] = {0}, alone[5], told[5], answer[5];
    int col[6] = {0}, row[17], n = 0;
    double G[5][5] = {{1, 1, 1, 0, 0}, {1, 1, 1, 0, 0}, {1, 1, 1 + m, 0, 0}, {0, 0, 0, 1 + m, 0}, {0, 0, 0, 0, 1 + m}};
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 5; ++i) {
        if (G[i][j] != 0) {
          row[n] = i, val[n++] = G[i][j];
        }
      }
      col[j + 1] = n;
    }
    TriboProblem p = {.nrow = 5, .ncone = 3, .cones = cones, .g = g, .G_col = col, .G_row = row, .G_val = val};
    TriboSolveStats stats;
    TriboResiduals r;
    CHECK_OK(tribo_solver_solve(s, &p, NULL, answer, &stats));
    assert_int_equal(stats.outcome, TRIBO_RELAXED);
    CHECK_LE(stats.factorisations, 30);
    tribo_solver_relaxed_g(s, told);
    CHECK_NEAR(told[0], -1 - apart / 2, 1e-6);
    CHECK_NEAR(told[1], -1 - apart / 2, 1e-6);
    CHECK_NEAR(stats.shift, apart / 2, 1e-6);
    for (int i = 2; i < 5; ++i) {
      CHECK_NEAR(told[i], g[i], 1e-6);
    }
    p.g = told;
    CHECK_OK(tribo_problem_residuals(&p, answer, sigma, &r));
    CHECK_LE(r.nat, 1e-8);
    // without the second pin, at the speed that both agree on
    memcpy(alone, told, sizeof alone);
    alone[1] = 0;
    cones[1] = (TriboCone){.kind = TRIBO_CONE_BOX, .row = 1, .dim = 1, .lo = 0, .hi = 0};
    p.g = alone;
    CHECK_OK(tribo_solver_solve(s, &p, NULL, alone, &stats));
    CHECK_NEAR(answer[0] + answer[1], alone[0], 1e-6);
    CHECK_LE(fmax(fabs(answer[0]), fabs(answer[1])), fabs(alone[0]) + 1e-6);
  }
  tribo_solver_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_solves_its_share),
      cmocka_unit_test(unique_answers_agree),
      cmocka_unit_test(paths_are_followed_through_their_folds),
      cmocka_unit_test(generated_problems_are_solved),
      cmocka_unit_test(warm_start_reduces_work),
      cmocka_unit_test(old_impulses_that_fit_are_kept),
      cmocka_unit_test(unknown_cones_start_open),
      cmocka_unit_test(unit_of_mass_does_not_matter),
      cmocka_unit_test(forms_of_the_linear_algebra_agree),
      cmocka_unit_test(mass_ratios_and_large_friction),
      cmocka_unit_test(extended_cones),
      cmocka_unit_test(large_pile),
      cmocka_unit_test(poor_guesses_among_many_contacts_cost_little),
      cmocka_unit_test(contradicting_rows_are_infeasible),
      cmocka_unit_test(redundant_rows_are_not_infeasible),
      cmocka_unit_test(answers_do_not_depend_on_history),
      cmocka_unit_test(history_and_budgets),
      cmocka_unit_test(registry_and_settings),
      cmocka_unit_test(contradictions_are_relaxed_least),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
