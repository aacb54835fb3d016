// Scratch vectors: any depth of nesting up to the limit keeps every vector, a depth beyond it ends the solve with an
// error instead of writing past the memory.
#include <string.h>

#include "families.h"
#include "kit.h"
#include "memory.h"
#include "methods.h"

enum { LIMIT = TRIBO_SLABS * TRIBO_SLAB_VECTORS };

// Takes vectors down to a depth, each filled with its number on the way down and looked at on the way up.
static int nest(TriboScratch* p, int depth) {
  if (depth == 0) {
    return 1;
  }
  const size_t pool_mark = p->used;
  double* v = tribo_sol_scratch_take(p);
  for (size_t i = 0; i < p->n; ++i) {
    v[i] = depth;
  }
  int intact = nest(p, depth - 1);
  for (size_t i = 0; i < p->n; ++i) {
    intact &= v[i] == depth;
  }
  p->used = pool_mark;
  return intact;
}

static void vectors_of_deep_nests_are_apart(void** state) {
  (void)state;
  TriboScratch p = {0};
  const size_t sizes[] = {7, 1, 40, 3};
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(tribo_sol_scratch_begin(&p, sizes[i]));
    assert_true(nest(&p, TRIBO_SLAB_VECTORS));
    assert_true(nest(&p, 5 * TRIBO_SLAB_VECTORS + 1));
    assert_true(nest(&p, LIMIT));
    assert_int_equal(p.status, TRIBO_OK);
    assert_int_equal(p.used, 0);
  }
  // what has been seen is kept
  const uint64_t grown = tribo_growth_count();
  CHECK_OK(tribo_sol_scratch_begin(&p, 40));
  assert_true(nest(&p, LIMIT));
  assert_int_equal(tribo_growth_count(), grown);
  tribo_sol_scratch_free(&p);
}

static void too_deep_a_nest_is_an_error(void** state) {
  (void)state;
  TriboScratch p = {0};
  CHECK_OK(tribo_sol_scratch_begin(&p, 5));
  for (int i = 0; i < 2 * LIMIT; ++i) {
    // in range also where the limit is passed
    memset(tribo_sol_scratch_take(&p), 0, sizeof(double) * p.n);
    assert_int_equal(p.status, i < LIMIT ? TRIBO_OK : TRIBO_INTERNAL);
  }
  CHECK_OK(tribo_sol_scratch_begin(&p, 5));
  assert_true(nest(&p, LIMIT));
  tribo_sol_scratch_free(&p);
}

static int depth, was_intact, was_stopped;

// A method that needs many vectors at once.
static void run_greedy(TriboSolver* s) {
  was_intact = nest(&s->scratch, depth);
  was_stopped = tribo_sol_stop(s);
}

static void a_solve_hands_the_error_on(void** state) {
  (void)state;
  FamilyProblem p;
  family_make(0, 1, 3, &p);
  double* lambda = tribo_alloc((size_t)p.problem.nrow, sizeof *lambda);
  TriboSolver* s;
  CHECK_OK(tribo_solver_create("newton", &s));
  TriboMethod greedy = *s->method;
  greedy.run = run_greedy;
  s->method = &greedy;
  TriboSolveStats stats;
  for (depth = TRIBO_SLAB_VECTORS; depth < LIMIT / 2; depth *= 2) {
    CHECK_OK(tribo_solver_solve(s, &p.problem, NULL, lambda, &stats));
    assert_true(was_intact && !was_stopped);
  }
  depth = LIMIT;
  assert_int_equal(tribo_solver_solve(s, &p.problem, NULL, lambda, &stats), TRIBO_INTERNAL);
  assert_true(was_stopped);
  assert_non_null(strstr(tribo_last_error(), "scratch vectors"));
  // the next solve is none the worse for it
  depth = 1;
  CHECK_OK(tribo_solver_solve(s, &p.problem, NULL, lambda, &stats));
  tribo_solver_destroy(s);
  tribo_free(lambda);
  family_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors_of_deep_nests_are_apart),
      cmocka_unit_test(too_deep_a_nest_is_an_error),
      cmocka_unit_test(a_solve_hands_the_error_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
