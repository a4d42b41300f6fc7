#include "corpus/corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

static void set_variable(const char *name, const char *value) {
  assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* A home of its own, and no variable set that changes the order. */
static int home_setup(void **state) {
  int result = folder_setup(state);
  set_variable("HOME", *state);
  set_variable("SHAKESAPP_CORPUS", NULL);
  set_variable("XDG_DATA_HOME", NULL);
  set_variable("XDG_CACHE_HOME", NULL);
  return result;
}

/* A folder "base/name" that holds one work of one line; owned. */
static char *make_text(const char *base, const char *name) {
  char *folder = path_join(base, name);
  assert_int_equal(mkdir(folder, 0755), 0);
  write_text(folder, "a.txt", "a line\n");
  return folder;
}

/* Makes base/a/b/c from "a/b/c"; owned. */
static char *make_folders(const char *base, const char *names) {
  char *command;
  assert_true(asprintf(&command, "mkdir -p '%s'", names) > 0);
  free(shell_output(base, command));
  free(command);
  return path_join(base, names);
}

static void assert_found(const char *flag, const char *folder, enum corpus_kind kind) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  if (corpus_find(flag, &corpus, &error))
    fail_msg("not found: %s", error.message);
  assert_string_equal(corpus_folder(corpus), folder);
  assert_int_equal(corpus_kind(corpus), kind);
  corpus_close(corpus);
}

static void assert_not_found(const char *flag, const char *first, const char *second) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  assert_int_equal(corpus_find(flag, &corpus, &error), -1);
  assert_null(corpus);
  assert_holds(error.message, first);
  assert_holds(error.message, second);
}

static void test_flag_comes_first(void **state) {
  char *named = make_text(*state, "named");
  char *other = make_text(*state, "other");
  set_variable("SHAKESAPP_CORPUS", other);
  assert_found(named, named, CORPUS_OTHER);
  assert_found(NULL, other, CORPUS_OTHER);
  assert_found("", other, CORPUS_OTHER);
  free(other);
  free(named);
}

static void test_unusable_folder_is_not_skipped(void **state) {
  char *good = make_text(*state, "good");
  set_variable("SHAKESAPP_CORPUS", good);
  assert_not_found("/nonexistent", "/nonexistent", "there is no such folder");
  set_variable("SHAKESAPP_CORPUS", "/nonexistent");
  assert_not_found(NULL, "SHAKESAPP_CORPUS: /nonexistent", "there is no such folder");
  assert_found(good, good, CORPUS_OTHER);
  free(good);
}

static void test_stand_in_is_the_last_resort(void **state) {
  char *folder = path_join(*state, ".cache/shakesapp/stand-in");
  set_variable("SHAKESAPP_CORPUS", "");
  assert_found(NULL, folder, CORPUS_STAND_IN);
  free(folder);
}

static void test_xdg_cache_home(void **state) {
  char *cache = path_join(*state, "elsewhere");
  char *folder = path_join(cache, "shakesapp/stand-in");
  set_variable("XDG_CACHE_HOME", cache);
  assert_found(NULL, folder, CORPUS_STAND_IN);
  free(folder);
  free(cache);
}

/* The specification says that a relative path is to be ignored. */
static void test_relative_xdg_paths_are_ignored(void **state) {
  char *folder = path_join(*state, ".cache/shakesapp/stand-in");
  set_variable("XDG_CACHE_HOME", "relative");
  set_variable("XDG_DATA_HOME", "relative");
  assert_found(NULL, folder, CORPUS_STAND_IN);
  free(folder);
}

static void test_intact_stand_in_is_kept(void **state) {
  char *folder = path_join(*state, ".cache/shakesapp/stand-in");
  char *work = path_join(folder, "hamlet.txt");
  struct stat before;
  struct stat after;
  assert_found(NULL, folder, CORPUS_STAND_IN);
  assert_int_equal(stat(work, &before), 0);
  assert_found(NULL, folder, CORPUS_STAND_IN);
  assert_int_equal(stat(work, &after), 0);
  assert_int_equal(after.st_ino, before.st_ino);
  free(work);
  free(folder);
}

static void test_damaged_stand_in_is_written_again(void **state) {
  static const char *const damages[] = {
      "rm hamlet.txt",
      "printf x >> hamlet.txt",
      "truncate -s 100 hamlet.txt",
      "sed -i 's/Hello/hallo/' hamlet.txt",
      "printf 'one more' > zz.txt",
      "ln -sf nowhere hamlet.txt",
      "rm *.txt",
  };
  char *folder = path_join(*state, ".cache/shakesapp/stand-in");
  char *parent = path_join(*state, ".cache/shakesapp");
  assert_found(NULL, folder, CORPUS_STAND_IN);
  for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
    free(shell_output(folder, damages[i]));
    assert_found(NULL, folder, CORPUS_STAND_IN);
    char *entries = shell_output(parent, "ls -A");
    assert_string_equal(entries, "stand-in");
    free(entries);
  }
  free(parent);
  free(folder);
}

static void test_fetched_text_must_be_real(void **state) {
  char *base = make_folders(*state, ".local/share/shakesapp");
  char *folder = make_text(base, "corpus");
  assert_not_found(NULL, folder, "run scripts/fetch-corpus again (its sums are not");
  write_bytes(folder, "a.txt", "\0", 1);
  assert_not_found(NULL, folder, "run scripts/fetch-corpus again");
  assert_not_found(NULL, "a.txt", "NUL byte");
  free(folder);
  free(base);
}

static void test_fetched_text_in_xdg_data_home(void **state) {
  char *base = make_folders(*state, "data/shakesapp");
  char *folder = make_text(base, "corpus");
  char *data = path_join(*state, "data");
  set_variable("XDG_DATA_HOME", data);
  assert_not_found(NULL, folder, "run scripts/fetch-corpus again");
  free(data);
  free(folder);
  free(base);
}

static void test_without_home(void **state) {
  set_variable("HOME", NULL);
  assert_not_found(NULL, "neither HOME nor XDG_DATA_HOME is set", "SHAKESAPP_CORPUS");
  set_variable("XDG_DATA_HOME", *state);
  assert_not_found(NULL, "neither HOME nor XDG_CACHE_HOME is set", "-corpus");
  set_variable("XDG_CACHE_HOME", *state);
  char *folder = path_join(*state, "shakesapp/stand-in");
  assert_found(NULL, folder, CORPUS_STAND_IN);
  free(folder);
}

static int find_action(const char *flag, struct corpus_error *error) {
  struct corpus *corpus = NULL;
  int result = corpus_find(flag, &corpus, error);
  corpus_close(corpus);
  return result;
}

static void test_cache_that_cannot_be_written(void **state) {
  assert_int_equal(chmod(*state, 0555), 0);
  struct corpus_error error;
  assert_int_equal(run_unprivileged(find_action, NULL, &error), -1);
  assert_holds(error.message, "/.cache: cannot be written (Permission denied)");
}

/* Starts a process that waits for the end of `start` and then looks for the text. */
static pid_t start_finder(const int start[2], const char *folder) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0)
    return child;
  close(start[1]);
  char byte;
  struct corpus *corpus = NULL;
  struct corpus_error error;
  bool right = read(start[0], &byte, 1) == 0 && corpus_find(NULL, &corpus, &error) == 0 &&
               corpus_kind(corpus) == CORPUS_STAND_IN && strcmp(corpus_folder(corpus), folder) == 0;
  corpus_close(corpus);
  _exit(right ? 0 : 1);
}

static void assert_two_find(const char *folder) {
  int start[2];
  assert_int_equal(pipe(start), 0);
  pid_t first = start_finder(start, folder);
  pid_t second = start_finder(start, folder);
  close(start[0]);
  close(start[1]); /* go */
  int first_status;
  int second_status;
  assert_int_equal(waitpid(first, &first_status, 0), first);
  assert_int_equal(waitpid(second, &second_status, 0), second);
  assert_int_equal(first_status, 0);
  assert_int_equal(second_status, 0);
}

static void test_two_processes_at_once(void **state) {
  char *folder = path_join(*state, ".cache/shakesapp/stand-in");
  char *parent = path_join(*state, ".cache/shakesapp");
  for (int round = 0; round < 5; round++) {
    assert_two_find(folder);
    assert_found(NULL, folder, CORPUS_STAND_IN);
    char *entries = shell_output(parent, "ls -A");
    assert_string_equal(entries, "stand-in");
    free(entries);
    /* Next time both find it damaged, or missing. */
    free(shell_output(parent, round % 2 ? "rm -r stand-in" : "rm stand-in/hamlet.txt"));
  }
  free(parent);
  free(folder);
}

#define WITH_HOME(test) cmocka_unit_test_setup_teardown(test, home_setup, folder_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_HOME(test_flag_comes_first),
      WITH_HOME(test_unusable_folder_is_not_skipped),
      WITH_HOME(test_stand_in_is_the_last_resort),
      WITH_HOME(test_xdg_cache_home),
      WITH_HOME(test_relative_xdg_paths_are_ignored),
      WITH_HOME(test_intact_stand_in_is_kept),
      WITH_HOME(test_damaged_stand_in_is_written_again),
      WITH_HOME(test_fetched_text_must_be_real),
      WITH_HOME(test_fetched_text_in_xdg_data_home),
      WITH_HOME(test_without_home),
      WITH_HOME(test_cache_that_cannot_be_written),
      WITH_HOME(test_two_processes_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
