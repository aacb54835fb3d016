// Defaults, ranges from both sides, wrong names and values that are no numbers.
#include "kit.h"
#include "settings.h"

#define FOO_SETTINGS(X)                                         \
  X(REAL, tol, 1e-8, 0, 1, 1, "m/s", "where to stop")           \
  X(INT, max_iterations, 100, 1, 1e6, 0, "", "when to give up") \
  X(BOOL, warm, 1, 0, 1, 0, "", "start from the step before")
typedef struct Foo {
  FOO_SETTINGS(TRIBO_SETTING_FIELD)
} Foo;
#define ROW(...) TRIBO_SETTING_ROW(Foo, __VA_ARGS__)
static const TriboSetting table[] = {FOO_SETTINGS(ROW)};
enum { COUNT = sizeof table / sizeof table[0] };

static void defaults_fill_every_field(void** state) {
  (void)state;
  Foo a, b;
  memset(&a, 0xA5, sizeof a);
  memset(&b, 0x5A, sizeof b);
  tribo_settings_default(table, COUNT, &a);
  tribo_settings_default(table, COUNT, &b);
  assert_true(a.tol == 1e-8 && a.max_iterations == 100 && a.warm == 1);
  assert_true(a.tol == b.tol && a.max_iterations == b.max_iterations && a.warm == b.warm);
  CHECK_OK(tribo_settings_validate(table, COUNT, &a, "foo"));
}

static void bounds_hold_from_both_sides(void** state) {
  (void)state;
  Foo foo;
  tribo_settings_default(table, COUNT, &foo);
  for (int i = 0; i < COUNT; ++i) {
    const TriboSetting* s = &table[i];
    double step = s->type == TRIBO_SETTING_REAL ? 1e-3 : 1;
    CHECK_OK(tribo_settings_set(table, COUNT, &foo, "foo", s->name, s->max));
    CHECK_FAILS(tribo_settings_set(table, COUNT, &foo, "foo", s->name, s->max + step), TRIBO_INVALID, s->name);
    CHECK_FAILS(tribo_settings_set(table, COUNT, &foo, "foo", s->name, s->min - step), TRIBO_INVALID, "range");
    CHECK_FAILS(tribo_settings_set(table, COUNT, &foo, "foo", s->name, NAN), TRIBO_INVALID, s->name);
    CHECK_FAILS(tribo_settings_set(table, COUNT, &foo, "foo", s->name, INFINITY), TRIBO_INVALID, s->name);
    TriboStatus at_min = tribo_settings_set(table, COUNT, &foo, "foo", s->name, s->min);
    assert_int_equal(at_min, s->open_min ? TRIBO_INVALID : TRIBO_OK);
  }
  CHECK_FAILS(tribo_settings_set(table, COUNT, &foo, "foo", "max_iterations", 2.5), TRIBO_INVALID, "whole");
  foo.tol = NAN;
  CHECK_FAILS(tribo_settings_validate(table, COUNT, &foo, "foo"), TRIBO_INVALID, "tol");
}

static void wrong_names_get_a_hint(void** state) {
  (void)state;
  Foo foo;
  double value;
  CHECK_FAILS(tribo_settings_set(table, COUNT, &foo, "foo", "max_iteration", 3), TRIBO_NOT_FOUND,
              "did you mean 'max_iterations'?");
  CHECK_FAILS(tribo_settings_get(table, COUNT, &foo, "foo", "zzzzzz", &value), TRIBO_NOT_FOUND, "no setting 'zzzzzz'");
  assert_null(strstr(tribo_last_error(), "did you mean"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_fill_every_field),
      cmocka_unit_test(bounds_hold_from_both_sides),
      cmocka_unit_test(wrong_names_get_a_hint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
