// The long runs: how often the solver ends at the best of all modes, family by family; and whether it ever calls a
// feasible problem infeasible. Prints what it measured.
#include <time.h>

#include "kit.h"
#include "qpcc_families.h"
#include "qpcc_projection.h"

static QpccCase c;
static TriboQpccSolver* solver;

typedef struct Kind {
  const char* name;
  QpccFamily family;
  int d, n, count, flips;
  double fraction;  // at least, at the global optimum
} Kind;

static double seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

// 200 problems of a kind; returns those at the global optimum (relative gap below 1e-4).
static int run(const Kind* k) {
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  settings.flips = k->flips;
  int global = 0;
  double nat = 0, time = 0, qps = 0;
  for (int seed = 0; seed < k->count; ++seed) {
    TriboQpccSolution x;
    TriboQpccResiduals r;
    qpcc_make(k->family, k->d, k->n, (unsigned)seed, &c);
    const double start = seconds();
    CHECK_OK(tribo_qpcc_solve(solver, &c.problem, &settings, NULL, &x));
    time += seconds() - start;
    CHECK_OK(tribo_qpcc_residual(&c.problem, x.lambda_a, x.lambda_c, &r));
    assert_int_not_equal(x.outcome, TRIBO_QPCC_INFEASIBLE);
    nat = fmax(nat, r.nat);
    qps += x.qps;
    global += qpcc_is_global(&c.problem, r.f, 1e-4, 1000000) == 1;
  }
  print_message("%-12s d = %d n = %d flips = %d: %3d of %d global, nat %.1e m/s, %6.1f programs, %.2f ms\n", k->name,
                k->d, k->n, k->flips, global, k->count, nat, qps / k->count, 1e3 * time / k->count);
  CHECK_LE(nat, 1e-10);
  CHECK_LE(k->fraction * k->count, global);
  return global;
}

static void fractions_at_the_global_optimum(void** state) {
  (void)state;
  // the families of the specification until proved; then what single flips and pairs alone reach
  static const Kind kinds[] = {{"rigid", QPCC_RIGID, 2, 3, 200, 4, 0.98},
                               {"rigid", QPCC_RIGID, 2, 4, 200, 4, 0.98},
                               {"rigid", QPCC_RIGID, 2, 5, 200, 4, 0.98},
                               {"force", QPCC_FORCE, 2, 3, 200, 4, 0.98},
                               {"box", QPCC_BOX, 2, 3, 200, 4, 0.98},
                               {"singular", QPCC_SINGULAR, 2, 3, 200, 4, 0.98},
                               {"frictionless", QPCC_RIGID, 1, 4, 200, 4, 0.98},
                               {"spatial", QPCC_RIGID, 3, 2, 200, 4, 0.98},
                               {"rigid", QPCC_RIGID, 2, 3, 200, 2, 0.9},
                               {"rigid", QPCC_RIGID, 2, 5, 200, 2, 0.9},
                               {"force", QPCC_FORCE, 2, 3, 200, 2, 0.85},
                               {"box", QPCC_BOX, 2, 3, 200, 2, 0.9},
                               {"singular", QPCC_SINGULAR, 2, 3, 200, 2, 0.8},
                               {"spatial", QPCC_RIGID, 3, 2, 200, 2, 0.9},
                               {"rigid", QPCC_RIGID, 2, 5, 200, 3, 0.95},
                               {"force", QPCC_FORCE, 2, 3, 200, 3, 0.93},
                               {"singular", QPCC_SINGULAR, 2, 3, 200, 3, 0.92}};
  int all = 0, global = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    const int found = run(&kinds[i]);
    all += kinds[i].flips == 4 ? kinds[i].count : 0;
    global += kinds[i].flips == 4 ? found : 0;
  }
  print_message("until proved, together: %d of %d\n", global, all);
  CHECK_LE(0.99 * all, global);
}

static void no_feasible_problem_is_called_infeasible(void** state) {
  (void)state;
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  int wrong = 0, open = 0;
  double nat = 0;
  for (unsigned seed = 0; seed < 10000; ++seed) {
    TriboQpccSolution x;
    qpcc_make_feasible(seed, 1 + (int)(seed % 3), 2 + (int)(seed % 3), &c);
    CHECK_OK(tribo_qpcc_solve(solver, &c.problem, &settings, NULL, &x));
    wrong += x.outcome == TRIBO_QPCC_INFEASIBLE;
    open += x.outcome != TRIBO_QPCC_SOLVED;
    nat = fmax(nat, x.nat);
  }
  print_message("10000 feasible problems: %d called infeasible, %d above 1e-10 m/s, worst %.1e m/s\n", wrong, open,
                nat);
  assert_int_equal(wrong, 0);
  assert_in_range(open, 0, 30);
  CHECK_LE(nat, 1e-6);
}

static void projection_is_the_nearest_of_all_directions(void** state) {
  (void)state;
  KitRandom r = {9};
  for (int k = 0; k < 100000; ++k) {
    qpcc_check_projection(&r, 3600);
  }
}

static int setup(void** state) {
  (void)state;
  return tribo_qpcc_create(QPCC_MOST_A, QPCC_MOST_CON, QPCC_MOST_RES, &solver) != TRIBO_OK;
}
static int teardown(void** state) {
  (void)state;
  tribo_qpcc_destroy(solver);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fractions_at_the_global_optimum),
                                     cmocka_unit_test(no_feasible_problem_is_called_infeasible),
                                     cmocka_unit_test(projection_is_the_nearest_of_all_directions)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
