// Pools hand out memory of their own; names are found again.
#include "kit.h"
#include "pool.h"

static void many_pieces_one_clear(void** state) {
  (void)state;
  TriboPool pool = {0};
  char* texts[3000];
  for (int i = 0; i < 3000; ++i) {
    texts[i] = tribo_pool_format(&pool, "name %d", i);
  }
  double* large = tribo_pool_alloc(&pool, 100000, sizeof *large);
  large[99999] = 1;
  for (int i = 0; i < 3000; ++i) {
    char expected[32];
    snprintf(expected, sizeof expected, "name %d", i);
    assert_string_equal(texts[i], expected);
  }
  assert_null(tribo_pool_alloc(&pool, SIZE_MAX / 2, 16));
  tribo_pool_clear(&pool);
}

static void names_are_found_again(void** state) {
  (void)state;
  TriboPool pool = {0};
  TriboNames names = {0};
  assert_int_equal(tribo_names_find(&names, "nothing"), -1);
  for (int i = 0; i < 5000; ++i) {
    CHECK_OK(tribo_names_add(&names, tribo_pool_format(&pool, "body%d", i), i));
  }
  assert_int_equal(tribo_names_find(&names, "body4711"), 4711);
  assert_int_equal(tribo_names_find(&names, "body5000"), -1);
  assert_string_equal(tribo_names_nearest(&names, "bodi17"), "body17");
  assert_null(tribo_names_nearest(&names, "completely else"));
  tribo_names_clear(&names);
  tribo_pool_clear(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_pieces_one_clear),
      cmocka_unit_test(names_are_found_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
