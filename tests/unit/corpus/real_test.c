#include "corpus/corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

enum {
  SKIPPED = 77
};

static void assert_finds_the_real_text(const char *folder) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  if (corpus_find(NULL, &corpus, &error))
    fail_msg("not found: %s", error.message);
  assert_string_equal(corpus_folder(corpus), folder);
  assert_int_equal(corpus_kind(corpus), CORPUS_REAL);
  assert_int_equal(corpus_work_count(corpus), 42);
  assert_int_equal(corpus_lines(corpus), 172948);
  assert_int_equal(corpus_bytes(corpus), 5283795);
  corpus_close(corpus);
}

static void test_named_by_the_environment(void **state) {
  (void)state;
  assert_finds_the_real_text(getenv("SHAKESAPP_CORPUS"));
}

static void test_fetched(void **state) {
  char *real = realpath(getenv("SHAKESAPP_CORPUS"), NULL);
  char *base = path_join(*state, "shakesapp");
  char *fetched = path_join(base, "corpus");
  assert_int_equal(mkdir(base, 0755), 0);
  assert_int_equal(symlink(real, fetched), 0);
  setenv("XDG_DATA_HOME", *state, 1);
  unsetenv("SHAKESAPP_CORPUS");
  assert_finds_the_real_text(fetched);
  setenv("SHAKESAPP_CORPUS", real, 1);
  free(fetched);
  free(base);
  free(real);
}

int main(void) {
  const char *folder = getenv("SHAKESAPP_CORPUS");
  if (!folder || !folder[0]) {
    puts("skipped: SHAKESAPP_CORPUS does not name the folder of the real text");
    return SKIPPED;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_named_by_the_environment),
      cmocka_unit_test_setup_teardown(test_fetched, folder_setup, folder_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
