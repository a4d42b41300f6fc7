#include "text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Both forms of the function give the same, but that one keeps the length. */
static void assert_printable(const char *text, const char *printed, const char *made) {
  char *out = NULL;
  size_t size;
  FILE *stream = open_memstream(&out, &size);
  assert_non_null(stream);
  cli_text_print(stream, text);
  fclose(stream);
  assert_string_equal(out, printed);
  free(out);
  char *copy = strdup(text);
  assert_non_null(copy);
  cli_text_make_printable(copy);
  assert_string_equal(copy, made);
  free(copy);
}

static void test_control_characters(void **state) {
  (void)state;
  assert_printable("", "", "");
  assert_printable("std::f(int)", "std::f(int)", "std::f(int)");
  assert_printable("größe", "größe", "größe");
  assert_printable("\x1b[31mred", "?[31mred", "?[31mred");
  assert_printable("a\nb\tc\x7f", "a?b?c?", "a?b?c?");
  assert_printable("\xc2\x9b"
                   "31m",
                   "?31m", "??31m"); /* CSI in one character */
  assert_printable("\xc2\xa0", "\xc2\xa0", "\xc2\xa0");
  assert_printable("\n", "?", "?");
}

static void test_wrapping(void **state) {
  (void)state;
  char *out = NULL;
  size_t size;
  FILE *stream = open_memstream(&out, &size);
  assert_non_null(stream);
  for (int i = 0; i < 3; i++)
    cli_text_print_wrapped(stream, "  ",
                           "word word word word word word word word word word word "
                           "word word word word word word");
  fclose(stream);
  size_t words = 0;
  char *rest;
  for (char *line = strtok_r(out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    assert_in_range(strlen(line), 1, 80);
    assert_memory_equal(line, "  word", 6);
    for (const char *at = line; (at = strstr(at, "word")) != NULL; at++)
      words++;
  }
  assert_int_equal(words, 51);
  free(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_control_characters),
      cmocka_unit_test(test_wrapping),
  };
  return cmocka_run_group_tests_name("cli_text", tests, NULL, NULL);
}
