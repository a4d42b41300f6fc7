#include "quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_quantities(void **state) {
  (void)state;
  static const struct {
    int64_t value;
    const char *unit;
    const char *expected;
  } cases[] = {
      {0, "nanoseconds", "0ns"},
      {999, "nanoseconds", "999ns"},
      {1000, "nanoseconds", "1.00us"},
      {1234567, "nanoseconds", "1.23ms"},
      {999994999, "nanoseconds", "999.99ms"},
      {999999999, "nanoseconds", "1.00s"},
      {1200000000, "nanoseconds", "1.20s"},
      {7200000000000, "nanoseconds", "7200.00s"},
      {-1500000, "nanoseconds", "-1.50ms"},
      {INT64_MIN, "nanoseconds", "-9223372036.85s"},
      {15, "microseconds", "15.00us"},
      {15, "milliseconds", "15.00ms"},
      {2, "seconds", "2.00s"},
      {0, "bytes", "0B"},
      {1023, "bytes", "1023B"},
      {1024, "bytes", "1.00KiB"},
      {524288, "bytes", "512.00KiB"},
      {1048575, "bytes", "1.00MiB"},
      {5368709120, "bytes", "5.00GiB"},
      {INT64_MAX, "bytes", "8388608.00TiB"},
      {0, "count", "0"},
      {999, "count", "999"},
      {1000, "count", "1,000"},
      {1234567, "", "1,234,567"},
      {-1234567, "count", "-1,234,567"},
      {INT64_MIN, "count", "-9,223,372,036,854,775,808"},
      {12345, "requests", "12,345 requests"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char text[CLI_QUANTITY_BYTES];
    cli_quantity_format(cases[i].value, cases[i].unit, text);
    assert_string_equal(text, cases[i].expected);
  }
}

static void test_long_unit_is_cut(void **state) {
  (void)state;
  char text[CLI_QUANTITY_BYTES];
  cli_quantity_format(1, "a unit with a name that no table has room for, nor any other, at all",
                      text);
  assert_memory_equal(text, "1 a unit with", 13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantities),
      cmocka_unit_test(test_long_unit_is_cut),
  };
  return cmocka_run_group_tests_name("cli_quantity", tests, NULL, NULL);
}
