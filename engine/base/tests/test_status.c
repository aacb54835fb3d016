// Error texts and the log.
#include "kit.h"
#include "status.h"

static void fail_stores_text(void** state) {
  (void)state;
  CHECK_FAILS(tribo_fail(TRIBO_INVALID, "mass = %g", -1.0), TRIBO_INVALID, "mass = -1");
  assert_string_equal(tribo_status_name(TRIBO_UNSUPPORTED), "TRIBO_UNSUPPORTED");
}

static void text_may_quote_itself(void** state) {
  (void)state;
  (void)tribo_fail(TRIBO_INVALID, "inner");
  (void)tribo_fail(TRIBO_INVALID, "outer: %s", tribo_last_error());
  assert_string_equal(tribo_last_error(), "outer: inner");
  tribo_fail_prefix("a.yaml:%d: ", 3);
  assert_string_equal(tribo_last_error(), "a.yaml:3: outer: inner");
}

static void long_text_is_cut(void** state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  (void)tribo_fail(TRIBO_INVALID, "%s", text);
  tribo_fail_prefix("front ");
  assert_true(strlen(tribo_last_error()) < 1100);
  assert_int_equal(strncmp(tribo_last_error(), "front xxx", 9), 0);
}

static void keep_text(TriboLogLevel level, const char* text, void* user) {
  (void)level;
  strcpy(user, text);
}

static void log_goes_to_the_sink(void** state) {
  (void)state;
  char text[100] = "";
  tribo_log(NULL, TRIBO_LOG_INFO, "nobody hears %d", 1);
  TriboLog log = {keep_text, text};
  tribo_log(&log, TRIBO_LOG_WARNING, "heard %d", 2);
  assert_string_equal(text, "heard 2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fail_stores_text),
      cmocka_unit_test(text_may_quote_itself),
      cmocka_unit_test(long_text_is_cut),
      cmocka_unit_test(log_goes_to_the_sink),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
