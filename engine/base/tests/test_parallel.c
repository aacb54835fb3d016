// Every index is done once, for any number of workers.
#include "kit.h"
#include "parallel.h"

static void square(int index, int worker, void* context) {
  assert_true(worker >= 0 && worker < 8);
  ((long*)context)[index] = (long)index * index;
}

static void every_item_once_for_any_thread_count(void** state) {
  (void)state;
  for (int threads = 0; threads <= 4; ++threads) {
    long result[1000] = {0};
    tribo_parallel_for(1000, threads, square, result);
    for (int i = 0; i < 1000; ++i) {
      assert_int_equal(result[i], (long)i * i);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_item_once_for_any_thread_count)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
