#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

/* A line may be as long as memory allows: here 10 MB in the first of two works, then 100 MB. */

enum {
  MB = 1000 * 1000
};

/* A line of `length` bytes, "To Be To Be ... The END", and short ones in another work. */
static void text_of_long_line(struct text *text, size_t length) {
  static const char ending[] = {'T', 'h', 'e', ' ', 'E', 'N', 'D'};
  char *line = malloc(length);
  assert_non_null(line);
  for (size_t i = 0; i < length; i++)
    line[i] = "To Be "[i % 6];
  memcpy(line + length - sizeof ending, ending, sizeof ending);
  text_create(text);
  text_write(text, "long.txt", line, length);
  text_write(text, "short.txt", "the end\nnot to be\n", 18);
  text_open(text);
  free(line);
}

static void a_line_of_10_mb(void **state) {
  (void)state;
  struct text text;
  text_of_long_line(&text, 10 * MB);
  assert_every_version_counts(&text, "to be to be", 1);
  assert_every_version_counts(&text, "the end", 2);
  assert_every_version_counts(&text, "be the end", 0);
  assert_every_version_counts(&text, "absent", 0);
  text_destroy(&text);
}

/* Measured: 0.5 to 1.3 seconds in every version that reads it again. */
static void a_line_of_100_mb(void **state) {
  (void)state;
  struct text text;
  text_of_long_line(&text, 100 * MB);
  assert_every_version_counts(&text, "the end", 2);
  text_destroy(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_of_10_mb),
      cmocka_unit_test(a_line_of_100_mb),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
