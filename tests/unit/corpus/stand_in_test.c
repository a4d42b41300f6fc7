#include "stand_in.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"
#include "works.h"

/* `LC_ALL=C sha256sum *.txt | sha256sum` in the stand-in's folder, whatever the machine. */
static const char expected_sha256[] =
    "cf01b20a1884f02fcaff031848d491a32cb1a3bd9983f2867e12859d31880233";

static void write_stand_in(const char *folder) {
  struct corpus_error error = {""};
  if (stand_in_write(folder, &error))
    fail_msg("not written: %s", error.message);
}

static void assert_output(const char *folder, const char *command, const char *expected) {
  char *output = shell_output(folder, command);
  assert_string_equal(output, expected);
  free(output);
}

static void assert_output_in_range(const char *folder, const char *command, long least, long most) {
  char *output = shell_output(folder, command);
  char *end;
  long number = strtol(output, &end, 10);
  assert_string_equal(end, "");
  assert_in_range(number, least, most);
  free(output);
}

/* The folder holds `name` and nothing else. */
static void assert_only(const char *folder, const char *name) {
  assert_output(folder, "ls -A", name);
}

static void assert_is_stand_in(const char *folder) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  if (corpus_open(folder, &corpus, &error))
    fail_msg("refused: %s", error.message);
  assert_int_equal(corpus_kind(corpus), CORPUS_STAND_IN);
  corpus_close(corpus);
}

static void test_same_bytes_everywhere(void **state) {
  assert_string_equal(works_stand_in_sha256, expected_sha256);
  char *folder = path_join(*state, "stand-in");
  write_stand_in(folder);
  char expected[80];
  snprintf(expected, sizeof expected, "%s  -", expected_sha256);
  assert_output(folder, "LC_ALL=C; export LC_ALL; sha256sum *.txt | sha256sum", expected);
  free(folder);
}

static void test_shape_of_the_real_text(void **state) {
  char *folder = path_join(*state, "stand-in");
  write_stand_in(folder);
  struct corpus *corpus = NULL;
  struct corpus_error error;
  assert_int_equal(corpus_open(folder, &corpus, &error), 0);
  assert_int_equal(corpus_work_count(corpus), 42);
  assert_int_equal(corpus_lines(corpus), 172948);
  assert_int_equal(corpus_bytes(corpus), 5283795);
  for (size_t i = 0; i < works_count; i++) {
    assert_string_equal(corpus_work_at(corpus, i)->name, works[i].name);
    assert_int_equal(corpus_work_at(corpus, i)->bytes, works[i].bytes);
    assert_int_equal(corpus_work_at(corpus, i)->lines, works[i].lines);
  }
  corpus_close(corpus);
  free(folder);
}

static void test_known_answers(void **state) {
  char *folder = path_join(*state, "stand-in");
  write_stand_in(folder);
  assert_output(folder, "cat *.txt | grep -ciF hello", "349");
  assert_output(folder, "cat *.txt | grep -ciF world", "728");
  assert_output(folder, "cat *.txt | grep -ciF 'to be, or not to be'", "1");
  assert_output(folder, "cat *.txt | grep -ciF insolence", "14");
  assert_output(folder, "cat *.txt | LC_ALL=C tr -d '\\t\\n -~' | wc -c", "0");
  free(folder);
}

/* Common words are frequent, most words are rare, and there are thousands. */
static void test_words_by_zipfs_law(void **state) {
  static const char words[] = "cat *.txt | tr A-Z a-z | tr -cs a-z '\\n'";
  char command[128];
  char *folder = path_join(*state, "stand-in");
  write_stand_in(folder);
  snprintf(command, sizeof command, "%s | sort -u | wc -l", words);
  assert_output_in_range(folder, command, 5000, 20000);
  snprintf(command, sizeof command, "%s | grep -cx the", words);
  assert_output_in_range(folder, command, 20000, 50000);
  free(folder);
}

static void test_parents_are_made(void **state) {
  char *folder = path_join(*state, "cache/shakesapp/stand-in");
  write_stand_in(folder);
  assert_is_stand_in(folder);
  char *parent = path_join(*state, "cache/shakesapp");
  assert_only(parent, "stand-in");
  free(parent);
  free(folder);
}

/* Whatever was there is replaced, and nothing else is left behind. */
static void test_replaces_what_is_there(void **state) {
  char *folder = path_join(*state, "stand-in");
  write_text(*state, "stand-in", "a file\n");
  write_stand_in(folder);
  assert_is_stand_in(folder);
  assert_only(*state, "stand-in");

  char *inner = path_join(folder, "inner");
  assert_int_equal(mkdir(inner, 0755), 0);
  write_text(inner, "a.txt", "a line\n");
  write_text(folder, "hamlet.txt", "damaged\n");
  write_stand_in(folder);
  assert_is_stand_in(folder);
  assert_only(*state, "stand-in");
  assert_output(folder, "ls -A | wc -l", "42");
  free(inner);
  free(folder);
}

static void test_links_are_not_followed(void **state) {
  char *outside = path_join(*state, "outside");
  char *folder = path_join(*state, "stand-in");
  assert_int_equal(mkdir(outside, 0755), 0);
  write_text(outside, "kept", "a line\n");
  assert_int_equal(symlink("outside", folder), 0);
  write_stand_in(folder);
  assert_is_stand_in(folder);
  assert_only(outside, "kept");
  free(folder);
  free(outside);
}

/* While one process replaces the text over and over, another finds every work at any time. */
static void test_no_work_is_ever_missing(void **state) {
  char *folder = path_join(*state, "stand-in");
  char *work = path_join(folder, works[works_count - 1].name);
  write_stand_in(folder);
  pid_t writer = fork();
  assert_true(writer >= 0);
  if (writer == 0) {
    struct corpus_error error;
    int result = 0;
    for (int i = 0; i < 4 && result == 0; i++)
      result = stand_in_write(folder, &error);
    _exit(result == 0 ? 0 : 1);
  }
  int status;
  uint64_t looks = 0;
  for (; waitpid(writer, &status, WNOHANG) == 0; looks++)
    assert_int_equal(access(work, R_OK), 0);
  assert_true(looks > 0);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_is_stand_in(folder);
  assert_only(*state, "stand-in");
  free(work);
  free(folder);
}

static int write_action(const char *folder, struct corpus_error *error) {
  return stand_in_write(folder, error);
}

static void test_no_access(void **state) {
  assert_int_equal(chmod(*state, 0555), 0);
  char *folder = path_join(*state, "stand-in");
  struct corpus_error error;
  assert_int_equal(run_unprivileged(write_action, folder, &error), -1);
  assert_holds(error.message, folder);
  assert_holds(error.message, "cannot be written (Permission denied)");
  assert_holds(error.message, "XDG_CACHE_HOME");
  free(folder);

  folder = path_join(*state, "cache/stand-in");
  char *parent = path_join(*state, "cache");
  assert_int_equal(run_unprivileged(write_action, folder, &error), -1);
  assert_holds(error.message, parent);
  free(parent);
  free(folder);
}

static void test_file_in_the_way_of_a_parent(void **state) {
  write_text(*state, "cache", "a file\n");
  char *folder = path_join(*state, "cache/stand-in");
  struct corpus_error error = {""};
  assert_int_equal(stand_in_write(folder, &error), -1);
  assert_holds(error.message, "cannot be written (Not a directory)");
  free(folder);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(test_same_bytes_everywhere),
      WITH_FOLDER(test_shape_of_the_real_text),
      WITH_FOLDER(test_known_answers),
      WITH_FOLDER(test_words_by_zipfs_law),
      WITH_FOLDER(test_parents_are_made),
      WITH_FOLDER(test_replaces_what_is_there),
      WITH_FOLDER(test_links_are_not_followed),
      WITH_FOLDER(test_no_work_is_ever_missing),
      WITH_FOLDER(test_no_access),
      WITH_FOLDER(test_file_in_the_way_of_a_parent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
