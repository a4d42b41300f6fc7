#include "http_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct kept {
  int count;
  char last[600];
};

static void keep(void *context, const char *line) {
  struct kept *kept = context;
  kept->count++;
  snprintf(kept->last, sizeof(kept->last), "%s", line);
}

static void lines_have_no_control_characters(void **state) {
  (void)state;
  struct kept kept = {0};
  struct http_log log = {.write = keep, .context = &kept};
  http_log_line(&log, "a\nb\x1b[31m\x7f %d\n\n", 5);
  assert_string_equal(kept.last, "http: a?b?[31m? 5");
}

static void long_lines_are_cut(void **state) {
  (void)state;
  char text[2000];
  memset(text, 'x', sizeof(text));
  text[sizeof(text) - 1] = '\0';
  struct kept kept = {0};
  struct http_log log = {.write = keep, .context = &kept};
  http_log_line(&log, "%s", text);
  assert_int_equal(strlen(kept.last), 511);
}

static void a_flood_is_cut_and_said_to_be(void **state) {
  (void)state;
  struct kept kept = {0};
  struct http_log log = {.write = keep, .context = &kept};
  for (int i = 0; i < 100000; i++)
    http_log_line(&log, "line %d", i);
  assert_int_equal(kept.count, 21);
  assert_string_equal(kept.last, "http: more lines in this minute are dropped");
}

static void the_next_minute_has_lines_again(void **state) {
  (void)state;
  struct kept kept = {0};
  struct http_log log = {.write = keep, .context = &kept};
  for (int i = 0; i < 100; i++)
    http_log_line(&log, "line %d", i);
  log.window_ns -= INT64_C(60000000000);
  http_log_line(&log, "again");
  assert_string_equal(kept.last, "http: again");
  assert_int_equal(kept.count, 22);
}

static void without_a_log_lines_are_dropped(void **state) {
  (void)state;
  struct http_log log = {0};
  http_log_line(&log, "line");
  assert_int_equal(log.lines, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_have_no_control_characters),
      cmocka_unit_test(long_lines_are_cut),
      cmocka_unit_test(a_flood_is_cut_and_said_to_be),
      cmocka_unit_test(the_next_minute_has_lines_again),
      cmocka_unit_test(without_a_log_lines_are_dropped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
