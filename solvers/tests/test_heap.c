// A second solve of the same size and pattern makes no heap call. The functions below replace the C library's in this
// program and in every library it loads.
#include <errno.h>
#include <string.h>
#include <stdlib.h>

#include "bead.h"
#include "families.h"
#include "kit.h"
#include "qpcc_families.h"

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static long calls;

void* malloc(size_t size) {
  calls++;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  calls++;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  calls++;
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  calls++;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  calls++;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}

enum { MAX_ROW = 2400 };
static double lambda[MAX_ROW], again[MAX_ROW], sigma[MAX_ROW];

static void second_solve_makes_no_heap_call(void** state) {
  (void)state;
  for (int m = 0; m < tribo_solver_count(); ++m) {
    TriboSolver* s;
    CHECK_OK(tribo_solver_create(tribo_solver_info(m)->id, &s));
    if (strcmp(tribo_solver_info(m)->id, "auto") != 0) {
      // one stage alone: what it takes does not grow with the iterations
      CHECK_OK(tribo_solver_set(s, "max_iterations", 100));
    }
    for (int f = 0; f < FAMILY_COUNT; ++f) {
      FamilyProblem p;
      TriboSolveStats stats;
      TriboResiduals r;
      family_make(f, 2, 7, &p);
      double* workspace = calloc(tribo_problem_workspace(&p.problem), sizeof(double));
      // twice cold, then twice warm with another free velocity, so that every stage has seen its sizes
      for (int pass = 0; pass < 4; ++pass) {
        TriboWarmStart warm = {.lambda = lambda, .sigma = sigma};
        if (pass == 2) {
          family_perturb(&p, 1e-3, 1);
        }
        long before = calls;
        CHECK_OK(tribo_solver_solve(s, &p.problem, pass < 2 ? NULL : &warm, pass < 2 ? lambda : again, &stats));
        if (pass < 2) {
          CHECK_OK(tribo_problem_residuals_in(&p.problem, lambda, sigma, workspace, &r));
        }
        if (pass % 2 == 1) {
          assert_int_equal(calls - before, 0);
        } else if (pass == 0 && f == 0) {
          assert_true(calls > before);  // the counter counts
        }
      }
      free(workspace);
      family_free(&p);
    }
    tribo_solver_destroy(s);
  }
}

// Threads come once and stay.
static void threads_are_taken_once(void** state) {
  (void)state;
  FamilyProblem p;
  TriboSolver* s;
  TriboSolveStats stats;
  family_big_pile(120, 1, &p);
  CHECK_OK(tribo_solver_create("subadmm", &s));
  CHECK_OK(tribo_solver_set(s, "threads", 3));
  for (int pass = 0; pass < 5; ++pass) {
    const long before = calls;
    CHECK_OK(tribo_solver_solve(s, &p.problem, NULL, lambda, &stats));
    assert_true(pass == 0 || calls == before);
  }
  tribo_solver_destroy(s);
  family_free(&p);
}

// A plan takes all it needs when it is created.
static void plans_make_no_heap_call(void** state) {
  (void)state;
  Bead b = plain;
  TriboPlan* plan = make(&b);
  TriboPlanResult r;
  const double z0[N * NZ] = {0};
  const long before = calls;
  CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
  assert_int_equal(calls - before, 0);
  assert_int_equal(r.outcome, TRIBO_PLAN_SOLVED);
  tribo_plan_destroy(plan);
}

// A solver of QPCCs has all its memory from the start.
static void qpcc_solves_make_no_heap_call(void** state) {
  (void)state;
  static QpccCase c;
  TriboQpccSolver* s;
  TriboQpccSolution x;
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  CHECK_OK(tribo_qpcc_create(QPCC_MOST_A, 6, QPCC_MOST_RES, &s));
  settings.flips = 4;
  for (int family = QPCC_RIGID; family <= QPCC_INFEASIBLE; ++family) {
    qpcc_make((QpccFamily)family, 1 + family % 3, 3, 4, &c);
    const long before = calls;
    CHECK_OK(tribo_qpcc_solve(s, &c.problem, &settings, NULL, &x));
    assert_int_equal(calls - before, 0);
  }
  tribo_qpcc_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(second_solve_makes_no_heap_call), cmocka_unit_test(threads_are_taken_once),
      cmocka_unit_test(plans_make_no_heap_call), cmocka_unit_test(qpcc_solves_make_no_heap_call)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
