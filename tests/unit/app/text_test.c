#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/text.h"

static void test_groups_thousands(void **state) {
  (void)state;
  static const struct {
    uint64_t number;
    const char *text;
  } cases[] = {
      {0, "0"},
      {7, "7"},
      {42, "42"},
      {999, "999"},
      {1000, "1,000"},
      {172948, "172,948"},
      {5283795, "5,283,795"},
      {UINT64_MAX, "18,446,744,073,709,551,615"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char text[TEXT_GROUPED_BYTES];
    text_format_grouped(cases[i].number, text);
    assert_string_equal(text, cases[i].text);
  }
}

static void test_keeps_text_on_one_line(void **state) {
  (void)state;
  char text[] = "a\nb\r\tc\033[2J\177\xc3\x89 d";
  text_make_one_line(text);
  assert_string_equal(text, "a?b??c?[2J?\xc3\x89 d");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups_thousands),
      cmocka_unit_test(test_keeps_text_on_one_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
