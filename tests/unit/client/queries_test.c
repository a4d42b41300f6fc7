#include "client/queries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A temporary file, written anew by each test. */
static char file_path[] = "/tmp/queries-test-XXXXXX";

static int file_setup(void **state) {
  (void)state;
  int fd = mkstemp(file_path);
  return fd < 0 ? -1 : close(fd);
}

static int file_teardown(void **state) {
  (void)state;
  return unlink(file_path);
}

static void file_write(const char *bytes, size_t length) {
  FILE *file = fopen(file_path, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static struct queries *read_text(const char *text) {
  file_write(text, strlen(text));
  struct queries *queries = NULL;
  struct rpc_error error = {""};
  int failed = queries_read(file_path, &queries, &error);
  assert_string_equal(error.message, "");
  assert_int_equal(failed, 0);
  return queries;
}

static void assert_query(const struct queries *queries, size_t index, const char *phrase,
                         int64_t count) {
  assert_in_range(index, 0, queries->count - 1);
  assert_string_equal(queries->items[index].phrase, phrase);
  assert_int_equal(queries->items[index].count, count);
}

/* The message is `before`, the path, `after`. */
static void assert_refused(const char *path, const char *before, const char *after) {
  struct queries *queries = NULL;
  struct rpc_error error = {""};
  assert_int_equal(queries_read(path, &queries, &error), -1);
  assert_null(queries);
  char expected[sizeof(error.message)];
  snprintf(expected, sizeof(expected), "%s%s%s", before, path, after);
  assert_string_equal(error.message, expected);
}

static void test_known_queries(void **state) {
  (void)state;
  assert_int_equal(queries_known.count, 4);
  assert_query(&queries_known, 0, "hello", 349);
  assert_query(&queries_known, 1, "world", 728);
  assert_query(&queries_known, 2, "to be, or not to be", 1);
  assert_query(&queries_known, 3, "insolence", 14);
}

static void test_reads_phrases_and_counts(void **state) {
  (void)state;
  struct queries *queries = read_text("hello\t349\nto be, or not to be\t-\nÉtat\t0\n"
                                      "tab\tinside\t7\n  spaces  \t9223372036854775807\n");
  assert_int_equal(queries->count, 5);
  assert_query(queries, 0, "hello", 349);
  assert_query(queries, 1, "to be, or not to be", QUERY_UNCHECKED);
  assert_query(queries, 2, "État", 0);
  assert_query(queries, 3, "tab\tinside", 7);
  assert_query(queries, 4, "  spaces  ", INT64_MAX);
  queries_free(queries);
}

static void test_passes_over_comments_and_empty_lines(void **state) {
  (void)state;
  struct queries *queries = read_text("# no tab\n\n\nhello\t1\n#\t2\n\nworld\t2\n\n");
  assert_int_equal(queries->count, 2);
  assert_query(queries, 0, "hello", 1);
  assert_query(queries, 1, "world", 2);
  queries_free(queries);
}

static void test_the_last_line_needs_no_newline(void **state) {
  (void)state;
  struct queries *queries = read_text("hello\t1\nworld\t2");
  assert_int_equal(queries->count, 2);
  assert_query(queries, 1, "world", 2);
  queries_free(queries);
}

static void test_reads_files_from_windows(void **state) {
  (void)state;
  struct queries *queries = read_text("\xEF\xBB\xBFhello\t1\r\n\r\nworld\t-\r\nagain\t3\r");
  assert_int_equal(queries->count, 3);
  assert_query(queries, 0, "hello", 1);
  assert_query(queries, 1, "world", QUERY_UNCHECKED);
  assert_query(queries, 2, "again", 3);
  queries_free(queries);
}

static void test_reads_many_queries(void **state) {
  (void)state;
  enum {
    COUNT = 10000
  };
  FILE *file = fopen(file_path, "we");
  assert_non_null(file);
  for (int i = 0; i < COUNT; i++)
    fprintf(file, "phrase %d\t%d\n", i, i);
  assert_int_equal(fclose(file), 0);
  struct queries *queries = NULL;
  assert_int_equal(queries_read(file_path, &queries, NULL), 0);
  assert_int_equal(queries->count, COUNT);
  for (int i = 0; i < COUNT; i++) {
    char phrase[32];
    snprintf(phrase, sizeof(phrase), "phrase %d", i);
    assert_query(queries, (size_t)i, phrase, i);
  }
  queries_free(queries);
}

static void test_reads_a_pipe(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "hello\t1\n", 8), 8);
  close(ends[1]);
  char path[32];
  snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
  struct queries *queries = NULL;
  assert_int_equal(queries_read(path, &queries, NULL), 0);
  close(ends[0]);
  assert_int_equal(queries->count, 1);
  assert_query(queries, 0, "hello", 1);
  queries_free(queries);
}

static void test_refuses_a_bad_line(void **state) {
  (void)state;
#define NO_COUNT "the count is neither a whole number of 0 or more nor -"
  static const struct {
    const char *text;
    const char *message;
  } cases[] = {
      {"hello 349\n", ", line 1: no TAB: write the phrase, a TAB and the count (- for one that is "
                      "not checked)"},
      {"hello\t1\n\n# two\n\t349\n", ", line 4: the phrase is empty"},
      {"hello\t1\nworld\t\n", ", line 2: " NO_COUNT},
      {"hello\t1\nworld\tmany", ", line 2: " NO_COUNT},
      {"hello\t-1\n", ", line 1: " NO_COUNT},
      {"hello\t+1\n", ", line 1: " NO_COUNT},
      {"hello\t1.5\n", ", line 1: " NO_COUNT},
      {"hello\t0x10\n", ", line 1: " NO_COUNT},
      {"hello\t 1\n", ", line 1: " NO_COUNT},
      {"hello\t--\n", ", line 1: " NO_COUNT},
      {"hello\t9223372036854775808\n", ", line 1: the count is too large"},
      {"hello\t99999999999999999999999\n", ", line 1: the count is too large"},
      {"\xC9tat\t1\n", ", line 1: the phrase is not UTF-8"},
      {"cut \xE2\x82\t1\n", ", line 1: the phrase is not UTF-8"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    file_write(cases[i].text, strlen(cases[i].text));
    assert_refused(file_path, "queries file ", cases[i].message);
  }
}

static void test_refuses_a_nul_byte(void **state) {
  (void)state;
  static const char text[] = "hello\t1\nwor\0ld\t2\n";
  file_write(text, sizeof(text) - 1);
  assert_refused(file_path, "queries file ", ", line 2: it holds a NUL byte");
}

static void test_phrase_length_has_a_limit(void **state) {
  (void)state;
  char text[1025 + sizeof("\t1")];
  memset(text, 'x', 1025);
  memcpy(text + 1025, "\t1", sizeof("\t1"));
  file_write(text, strlen(text));
  assert_refused(file_path, "queries file ", ", line 1: the phrase is over 1,024 bytes");

  struct queries *queries = read_text(text + 1);
  assert_int_equal(strlen(queries->items[0].phrase), 1024);
  queries_free(queries);
}

static void test_refuses_a_file_without_queries(void **state) {
  (void)state;
  static const char *const texts[] = {"", "\n", "\r\n", "# only a comment\n", "\xEF\xBB\xBF"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    file_write(texts[i], strlen(texts[i]));
    assert_refused(file_path, "queries file ",
                   " holds no query: write lines of phrase, TAB, count");
  }
}

static void test_file_size_has_a_limit(void **state) {
  (void)state;
  enum {
    LIMIT = 16 << 20
  };
  char *text = malloc(LIMIT + 1);
  assert_non_null(text);
  memset(text, '\n', LIMIT + 1);
  memcpy(text, "hello\t1", 7);
  file_write(text, LIMIT + 1);
  assert_refused(file_path, "queries file ", " is over 16 MiB: give a smaller one");

  file_write(text, LIMIT);
  free(text);
  struct queries *queries = NULL;
  assert_int_equal(queries_read(file_path, &queries, NULL), 0);
  assert_int_equal(queries->count, 1);
  queries_free(queries);
}

static void test_refuses_what_cannot_be_read(void **state) {
  (void)state;
  assert_refused("/nonexistent/queries", "cannot read queries file ",
                 ": No such file or directory");
  assert_refused("/tmp", "cannot read queries file ", ": Is a directory");
  assert_refused("/proc/self/mem", "cannot read queries file ", ": Input/output error");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_queries),
      cmocka_unit_test(test_reads_phrases_and_counts),
      cmocka_unit_test(test_passes_over_comments_and_empty_lines),
      cmocka_unit_test(test_the_last_line_needs_no_newline),
      cmocka_unit_test(test_reads_files_from_windows),
      cmocka_unit_test(test_reads_many_queries),
      cmocka_unit_test(test_reads_a_pipe),
      cmocka_unit_test(test_refuses_a_bad_line),
      cmocka_unit_test(test_refuses_a_nul_byte),
      cmocka_unit_test(test_phrase_length_has_a_limit),
      cmocka_unit_test(test_refuses_a_file_without_queries),
      cmocka_unit_test(test_file_size_has_a_limit),
      cmocka_unit_test(test_refuses_what_cannot_be_read),
  };
  return cmocka_run_group_tests_name("client/queries", tests, file_setup, file_teardown);
}
