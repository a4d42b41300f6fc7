#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

/* From this version on the text is read once, when the version is prepared. */
enum {
  FIRST_THAT_READS_ONCE = 4
};

enum {
  MAX_VERSIONS = 16
};

static const struct match_query query = {.phrase = "hello", .length = 5};

/* Two works, and every version prepared over them. */
struct fixture {
  struct text text;
  void *states[MAX_VERSIONS];
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  text_create(&fixture->text);
  text_write(&fixture->text, "othello.txt", "hello\nOthello\n", 14);
  text_write(&fixture->text, "sonnets.txt", "hello\n", 6);
  text_open(&fixture->text);
  assert_in_range(match_version_count(), 1, MAX_VERSIONS);
  for (size_t i = 0; i < match_version_count(); i++)
    assert_int_equal(match_version_at(i)->prepare(fixture->text.corpus, &fixture->states[i], NULL),
                     MATCH_OK);
  *state = fixture;
  return 0;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  for (size_t i = 0; i < match_version_count(); i++)
    match_version_at(i)->release(fixture->states[i]);
  text_destroy(&fixture->text);
  free(fixture);
  return 0;
}

static void assert_count(const struct fixture *fixture, size_t index) {
  struct match_error error = {0};
  int64_t count = -1;
  enum match_outcome outcome =
      match_version_at(index)->count(fixture->states[index], &query, &count, &error);
  assert_string_equal(error.message, "");
  assert_int_equal(outcome, MATCH_OK);
  assert_int_equal(count, 3);
}

static void assert_unreadable(const struct fixture *fixture, size_t index, const char *message) {
  struct match_error error = {0};
  int64_t count = -1;
  enum match_outcome outcome =
      match_version_at(index)->count(fixture->states[index], &query, &count, &error);
  assert_string_equal(error.message, message);
  assert_int_equal(outcome, MATCH_UNREADABLE);
  assert_int_equal(count, -1);
  assert_int_equal(match_version_at(index)->count(fixture->states[index], &query, &count, NULL),
                   MATCH_UNREADABLE);
}

/* Versions that read at every request say what happened, the others do not notice. */
static void assert_all_unreadable(const struct fixture *fixture, const char *message) {
  for (size_t i = 0; i < match_version_count(); i++) {
    if (match_version_at(i)->number < FIRST_THAT_READS_ONCE)
      assert_unreadable(fixture, i, message);
    else
      assert_count(fixture, i);
  }
}

static void assert_all_count(const struct fixture *fixture) {
  for (size_t i = 0; i < match_version_count(); i++)
    assert_count(fixture, i);
}

static void a_removed_work_is_named_until_it_is_back(void **state) {
  struct fixture *fixture = *state;
  assert_all_count(fixture);
  text_remove(&fixture->text, "sonnets.txt");
  assert_all_unreadable(fixture, "cannot read the work sonnets.txt: No such file or directory; "
                                 "put the file back as it was loaded");
  text_write(&fixture->text, "sonnets.txt", "hello\n", 6);
  assert_all_count(fixture);
}

static void a_folder_in_the_place_of_a_work_is_named(void **state) {
  struct fixture *fixture = *state;
  text_remove(&fixture->text, "othello.txt");
  text_make_folder(&fixture->text, "othello.txt");
  assert_all_unreadable(fixture,
                        "cannot read the work othello.txt: it is no regular file any more; "
                        "put the file back as it was loaded");
}

static void a_pipe_in_the_place_of_a_work_is_named_and_not_waited_for(void **state) {
  struct fixture *fixture = *state;
  text_remove(&fixture->text, "othello.txt");
  text_make_pipe(&fixture->text, "othello.txt");
  assert_all_unreadable(fixture, "cannot read the work othello.txt: it is no regular file any "
                                 "more; put the file back as it was loaded");
}

static void a_nul_byte_that_came_later_is_named(void **state) {
  struct fixture *fixture = *state;
  text_write(&fixture->text, "sonnets.txt", "hello\0hello\n", 12);
  assert_all_unreadable(fixture, "cannot read the work sonnets.txt: it holds a NUL byte; "
                                 "put the file back as it was loaded");
}

static void a_version_that_reads_once_cannot_be_prepared(void **state) {
  struct fixture *fixture = *state;
  text_remove(&fixture->text, "othello.txt");
  for (int number = FIRST_THAT_READS_ONCE; match_version_find(number) != NULL; number++) {
    struct match_error error = {0};
    void *prepared = NULL;
    enum match_outcome outcome =
        match_version_find(number)->prepare(fixture->text.corpus, &prepared, &error);
    assert_string_equal(error.message,
                        "cannot read the work othello.txt: No such file or directory; "
                        "put the file back as it was loaded");
    assert_int_equal(outcome, MATCH_UNREADABLE);
    assert_null(prepared);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_removed_work_is_named_until_it_is_back, setup, teardown),
      cmocka_unit_test_setup_teardown(a_folder_in_the_place_of_a_work_is_named, setup, teardown),
      cmocka_unit_test_setup_teardown(a_pipe_in_the_place_of_a_work_is_named_and_not_waited_for,
                                      setup, teardown),
      cmocka_unit_test_setup_teardown(a_nul_byte_that_came_later_is_named, setup, teardown),
      cmocka_unit_test_setup_teardown(a_version_that_reads_once_cannot_be_prepared, setup,
                                      teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
