// Arrays grow, keep what they should, count it, and say when there is no memory.
#include "kit.h"
#include "memory.h"

static void allocations_are_zero_and_aligned(void** state) {
  (void)state;
  double* x = tribo_alloc(33, sizeof *x);
  assert_int_equal((uintptr_t)x % 64, 0);
  for (int i = 0; i < 33; ++i) {
    assert_true(x[i] == 0);
  }
  tribo_free(x);
  assert_null(tribo_alloc(SIZE_MAX / 2, 16));
}

static void arrays_grow_and_keep(void** state) {
  (void)state;
  int* x = NULL;
  uint64_t before = tribo_growth_count();
  for (int i = 0; i < 1000; ++i) {
    CHECK_OK(TRIBO_APPEND(&x, i, 1));
    x[i] = i;
  }
  for (int i = 0; i < 1000; ++i) {
    assert_int_equal(x[i], i);
  }
  // doubling: 16, 32, …, 1024
  assert_int_equal(tribo_growth_count() - before, 7);
  CHECK_OK(TRIBO_RESERVE(&x, 1000));
  assert_int_equal(tribo_growth_count() - before, 7);
  tribo_free(x);
}

static void no_memory_changes_nothing(void** state) {
  (void)state;
  double* x = NULL;
  CHECK_OK(TRIBO_RESERVE(&x, 4));
  x[0] = 7;
  CHECK_FAILS(TRIBO_RESERVE(&x, SIZE_MAX / 4), TRIBO_NOMEM, "no memory");
  assert_true(x[0] == 7 && tribo_array_bytes(x) == 16 * sizeof *x);
  tribo_free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocations_are_zero_and_aligned),
      cmocka_unit_test(arrays_grow_and_keep),
      cmocka_unit_test(no_memory_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
