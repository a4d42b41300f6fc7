#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "app/log.h"

#define TIME_PATTERN "[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} "

static void assert_matches(const char *text, const char *pattern) {
  regex_t compiled;
  assert_int_equal(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB), 0);
  int outcome = regexec(&compiled, text, 0, NULL, 0);
  regfree(&compiled);
  if (outcome != 0)
    fail_msg("\"%s\" does not match %s", text, pattern);
}

/* Reads what is there, which the writer has finished, as one string. */
static void read_all(int fd, char *out, size_t out_bytes) {
  size_t length = 0;
  ssize_t got;
  while (length < out_bytes - 1 && (got = read(fd, out + length, out_bytes - 1 - length)) > 0)
    length += (size_t)got;
  out[length] = '\0';
}

struct fixture {
  int fds[2];
  struct log log;
};

static void fixture_open(struct fixture *fixture) {
  assert_int_equal(pipe2(fixture->fds, O_CLOEXEC), 0);
  log_init(&fixture->log, fixture->fds[1]);
}

static void fixture_close(struct fixture *fixture, char *out, size_t out_bytes) {
  log_fini(&fixture->log);
  close(fixture->fds[1]);
  read_all(fixture->fds[0], out, out_bytes);
  close(fixture->fds[0]);
}

static void test_line_has_time_and_message(void **state) {
  (void)state;
  struct fixture fixture;
  char text[256];
  fixture_open(&fixture);
  log_line(&fixture.log, "round %d", 3);
  fixture_close(&fixture, text, sizeof(text));
  assert_matches(text, "^" TIME_PATTERN "round 3\n$");
}

static void test_a_message_stays_one_line(void **state) {
  (void)state;
  struct fixture fixture;
  char text[256];
  fixture_open(&fixture);
  log_line(&fixture.log, "%s", "two\nlines");
  fixture_close(&fixture, text, sizeof(text));
  assert_matches(text, "^" TIME_PATTERN "two\\?lines\n$");
}

static void test_long_message_is_cut(void **state) {
  (void)state;
  struct fixture fixture;
  char message[5000];
  char text[6000];
  memset(message, 'x', sizeof(message) - 1);
  message[sizeof(message) - 1] = '\0';
  fixture_open(&fixture);
  log_line(&fixture.log, "%s", message);
  log_line(&fixture.log, "next");
  fixture_close(&fixture, text, sizeof(text));
  assert_matches(text, "^" TIME_PATTERN "x+\n" TIME_PATTERN "next\n$");
}

static void test_null_log_is_silent(void **state) {
  (void)state;
  log_line(NULL, "nothing");
  log_progress(NULL, "nothing");
  assert_false(log_shows_progress(NULL));
}

static void test_progress_needs_a_terminal(void **state) {
  (void)state;
  struct fixture fixture;
  char text[256];
  fixture_open(&fixture);
  assert_false(log_shows_progress(&fixture.log));
  log_progress(&fixture.log, "7 of 20");
  fixture_close(&fixture, text, sizeof(text));
  assert_string_equal(text, "");
}

static void test_a_line_erases_the_progress(void **state) {
  (void)state;
  int reader;
  int terminal;
  char text[256];
  struct log log;
  assert_int_equal(openpty(&reader, &terminal, NULL, NULL, NULL), 0);
  log_init(&log, terminal);
  assert_true(log_shows_progress(&log));
  log_progress(&log, "7 of 20");
  log_progress(&log, "8 of 20");
  log_line(&log, "done");
  log_line(&log, "next");
  log_fini(&log);
  tcdrain(terminal);
  close(terminal);
  read_all(reader, text, sizeof(text));
  close(reader);
  assert_matches(text, "^\r\033\\[K7 of 20\r\033\\[K8 of 20\r\033\\[K" TIME_PATTERN
                       "done\r\n" TIME_PATTERN "next\r\n$");
}

enum {
  THREADS = 4,
  LINES = 50
};

static void *write_lines(void *log) {
  for (int i = 0; i < LINES; i++)
    log_line(log, "0123456789");
  return NULL;
}

static void test_lines_of_threads_stay_whole(void **state) {
  (void)state;
  struct fixture fixture;
  pthread_t threads[THREADS];
  char text[THREADS * LINES * 32];
  fixture_open(&fixture);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &fixture.log), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  fixture_close(&fixture, text, sizeof(text));
  assert_matches(text, "^(" TIME_PATTERN "0123456789\n){200}$");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_line_has_time_and_message),
      cmocka_unit_test(test_a_message_stays_one_line),
      cmocka_unit_test(test_long_message_is_cut),
      cmocka_unit_test(test_null_log_is_silent),
      cmocka_unit_test(test_progress_needs_a_terminal),
      cmocka_unit_test(test_a_line_erases_the_progress),
      cmocka_unit_test(test_lines_of_threads_stay_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
