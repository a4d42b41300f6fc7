#include "corpus/corpus.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"
#include "works.h"

/* The message names `path`, says `what`, and is one line. */
static void assert_refused(const char *folder, const char *path, const char *what) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  assert_int_equal(corpus_open(folder, &corpus, &error), -1);
  assert_null(corpus);
  assert_holds(error.message, path);
  assert_holds(error.message, what);
  assert_null(strchr(error.message, '\n'));
}

static struct corpus *open_folder(const char *folder) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  if (corpus_open(folder, &corpus, &error))
    fail_msg("refused: %s", error.message);
  return corpus;
}

/* The folder's only work has that many bytes and lines. */
static void assert_counts(const char *folder, uint64_t bytes, uint64_t lines) {
  struct corpus *corpus = open_folder(folder);
  assert_int_equal(corpus_work_count(corpus), 1);
  assert_int_equal(corpus_work_at(corpus, 0)->bytes, bytes);
  assert_int_equal(corpus_work_at(corpus, 0)->lines, lines);
  assert_int_equal(corpus_bytes(corpus), bytes);
  assert_int_equal(corpus_lines(corpus), lines);
  assert_int_equal(corpus_kind(corpus), CORPUS_OTHER);
  corpus_close(corpus);
}

static int open_action(const char *folder, struct corpus_error *error) {
  struct corpus *corpus = NULL;
  int result = corpus_open(folder, &corpus, error);
  corpus_close(corpus);
  return result;
}

static void assert_refused_unprivileged(const char *folder, const char *path, const char *what) {
  struct corpus_error error;
  assert_int_equal(run_unprivileged(open_action, folder, &error), -1);
  assert_holds(error.message, path);
  assert_holds(error.message, what);
}

static void test_missing_folder(void **state) {
  char *path = path_join(*state, "none");
  assert_refused(path, path, "there is no such folder");
  assert_refused("", "name", "is empty");
  free(path);
}

static void test_not_a_folder(void **state) {
  write_text(*state, "file", "a line\n");
  char *path = path_join(*state, "file");
  assert_refused(path, path, "is not a folder");
  free(path);
}

static void test_unreadable_folder(void **state) {
  write_text(*state, "a.txt", "a line\n");
  assert_int_equal(chmod(*state, 0), 0);
  assert_refused_unprivileged(*state, *state, "Permission denied");
  assert_int_equal(chmod(*state, 0755), 0);
}

static void test_no_text(void **state) {
  assert_refused(*state, *state, "holds no *.txt file");
  write_text(*state, ".hidden.txt", "a line\n");
  write_text(*state, ".txt", "a line\n");
  write_text(*state, "txt", "a line\n");
  write_text(*state, "a.TXT", "a line\n");
  write_text(*state, "a.txt~", "a line\n");
  assert_refused(*state, *state, "holds no *.txt file");
}

static void test_folder_named_like_a_work(void **state) {
  write_text(*state, "a.txt", "a line\n");
  char *path = path_join(*state, "x.txt");
  assert_int_equal(mkdir(path, 0755), 0);
  assert_refused(*state, path, "is a folder");
  free(path);
}

static void test_fifo(void **state) {
  char *path = path_join(*state, "x.txt");
  assert_int_equal(mkfifo(path, 0644), 0);
  assert_refused(*state, path, "is not a regular file");
  free(path);
}

static void test_socket(void **state) {
  char *path = path_join(*state, "x.txt");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  assert_true(strlen(path) < sizeof address.sun_path);
  memcpy(address.sun_path, path, strlen(path));
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
  assert_refused(*state, path, "is not a regular file");
  close(fd);
  free(path);
}

static void test_device(void **state) {
  char *path = path_join(*state, "x.txt");
  assert_int_equal(symlink("/dev/zero", path), 0);
  assert_refused(*state, path, "is not a regular file");
  free(path);
}

static void test_broken_links(void **state) {
  char *path = path_join(*state, "x.txt");
  assert_int_equal(symlink("nowhere", path), 0);
  assert_refused(*state, path, "is a broken link");
  assert_int_equal(unlink(path), 0);
  assert_int_equal(symlink("x.txt", path), 0);
  assert_refused(*state, path, "is a broken link");
  free(path);
}

static void test_unreadable_file(void **state) {
  write_text(*state, "a.txt", "a line\n");
  char *path = path_join(*state, "a.txt");
  assert_int_equal(chmod(path, 0), 0);
  assert_refused_unprivileged(*state, path, "Permission denied");
  free(path);
}

static void test_nul_byte(void **state) {
  char *path = path_join(*state, "x.txt");
  write_bytes(*state, "x.txt", "one\nt\0wo\n", 9);
  assert_refused(*state, path, "NUL byte at offset 5:");

  enum {
    LENGTH = 200000,
    OFFSET = 150001
  };
  char *text = malloc(LENGTH);
  assert_non_null(text);
  memset(text, 'a', LENGTH);
  text[OFFSET] = '\0';
  write_bytes(*state, "x.txt", text, LENGTH);
  assert_refused(*state, path, "NUL byte at offset 150001:");
  free(text);
  free(path);
}

static void test_message_stays_one_line(void **state) {
  write_bytes(*state, "two\nlines.txt", "\0", 1);
  assert_refused(*state, "two?lines.txt", "NUL byte at offset 0:");
}

static void test_link_to_a_file(void **state) {
  write_text(*state, "elsewhere", "one\ntwo\n");
  char *path = path_join(*state, "x.txt");
  assert_int_equal(symlink("elsewhere", path), 0);
  assert_counts(*state, 8, 2);
  free(path);
}

static void test_line_counts(void **state) {
  static const struct {
    const char *text;
    uint64_t lines;
  } cases[] = {
      {"", 0},
      {"\n", 1},
      {"\n\n\n", 3},
      {"one", 1},
      {"one\n", 1},
      {"one\ntwo", 2},
      {"one\r\ntwo\r\n", 2},
      {"one\rtwo", 1},
      {"\xff\xfe\n\xc3\n\xed\xa0\x80\n", 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_text(*state, "x.txt", cases[i].text);
    assert_counts(*state, strlen(cases[i].text), cases[i].lines);
  }
}

static void test_line_of_100_megabytes(void **state) {
  enum {
    CHUNK = 1000 * 1000,
    CHUNKS = 100
  };
  char *chunk = malloc(CHUNK);
  assert_non_null(chunk);
  memset(chunk, 'a', CHUNK);
  char *path = path_join(*state, "x.txt");
  FILE *file = fopen(path, "wbe");
  assert_non_null(file);
  for (int i = 0; i < CHUNKS; i++)
    assert_int_equal(fwrite(chunk, 1, CHUNK, file), CHUNK);
  assert_int_equal(fclose(file), 0);
  assert_counts(*state, (uint64_t)CHUNK * CHUNKS, 1);
  free(path);
  free(chunk);
}

static void test_byte_order_of_names(void **state) {
  static const char *const names[] = {"10.txt", "9.txt",  "A.txt",        "Z.txt",
                                      "a.txt",  "ab.txt", "\xc3\xa9.txt", "\xff.txt"};
  enum {
    COUNT = sizeof names / sizeof names[0]
  };
  for (size_t i = 0; i < COUNT; i++)
    write_text(*state, names[i * 3 % COUNT], "a line\n");
  struct corpus *corpus = open_folder(*state);
  assert_int_equal(corpus_work_count(corpus), COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    char *path = path_join(*state, names[i]);
    assert_string_equal(corpus_work_at(corpus, i)->name, names[i]);
    assert_string_equal(corpus_work_at(corpus, i)->path, path);
    free(path);
  }
  assert_string_equal(corpus_folder(corpus), *state);
  corpus_close(corpus);
}

static void test_folder_with_a_slash(void **state) {
  write_text(*state, "a.txt", "a line\n");
  char *folder = path_join(*state, "");
  char *path = path_join(*state, "a.txt");
  struct corpus *corpus = open_folder(folder);
  assert_string_equal(corpus_work_at(corpus, 0)->path, path);
  corpus_close(corpus);
  free(path);
  free(folder);
}

static void test_many_works(void **state) {
  enum {
    COUNT = 500
  };
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "%03d.txt", i);
    write_text(*state, name, "one\ntwo");
  }
  struct corpus *corpus = open_folder(*state);
  assert_int_equal(corpus_work_count(corpus), COUNT);
  assert_int_equal(corpus_lines(corpus), 2 * COUNT);
  assert_int_equal(corpus_bytes(corpus), 7 * COUNT);
  corpus_close(corpus);
}

/* Names and sizes alone do not make a text the real one. */
static void test_same_shape_is_another_text(void **state) {
  assert_int_equal(works_count, 42);
  for (size_t i = 0; i < works_count; i++) {
    char *text = malloc(works[i].bytes);
    assert_non_null(text);
    memset(text, 'a', works[i].bytes);
    write_bytes(*state, works[i].name, text, works[i].bytes);
    free(text);
  }
  struct corpus *corpus = open_folder(*state);
  assert_int_equal(corpus_bytes(corpus), 5283795);
  assert_int_equal(corpus_kind(corpus), CORPUS_OTHER);
  corpus_close(corpus);
}

static void test_close_takes_null(void **state) {
  (void)state;
  corpus_close(NULL);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(test_missing_folder),
      WITH_FOLDER(test_not_a_folder),
      WITH_FOLDER(test_unreadable_folder),
      WITH_FOLDER(test_no_text),
      WITH_FOLDER(test_folder_named_like_a_work),
      WITH_FOLDER(test_fifo),
      WITH_FOLDER(test_socket),
      WITH_FOLDER(test_device),
      WITH_FOLDER(test_broken_links),
      WITH_FOLDER(test_unreadable_file),
      WITH_FOLDER(test_nul_byte),
      WITH_FOLDER(test_message_stays_one_line),
      WITH_FOLDER(test_link_to_a_file),
      WITH_FOLDER(test_line_counts),
      WITH_FOLDER(test_line_of_100_megabytes),
      WITH_FOLDER(test_byte_order_of_names),
      WITH_FOLDER(test_folder_with_a_slash),
      WITH_FOLDER(test_many_works),
      WITH_FOLDER(test_same_shape_is_another_text),
      cmocka_unit_test(test_close_takes_null),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
