#include "server_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "fake_folio.h"

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_lines;
static char log_last[600];

static void keep_line(void *context, const char *line) {
  (void)context;
  pthread_mutex_lock(&log_mutex);
  log_lines++;
  snprintf(log_last, sizeof(log_last), "%s", line);
  pthread_mutex_unlock(&log_mutex);
}

int fixture_log_lines(void) {
  pthread_mutex_lock(&log_mutex);
  int lines = log_lines;
  pthread_mutex_unlock(&log_mutex);
  return lines;
}

const char *fixture_log_last(void) {
  static char last[sizeof(log_last)];
  pthread_mutex_lock(&log_mutex);
  snprintf(last, sizeof(last), "%s", log_last);
  pthread_mutex_unlock(&log_mutex);
  return last;
}

struct fixture fixture_start(struct folio_http_options options) {
  struct fixture fixture = {0};
  struct folio_error error;
  fake_reset();
  log_lines = 0;
  options.size = sizeof(options);
  if (options.address == NULL)
    options.address = "127.0.0.1:0";
  options.log = keep_line;
  if (folio_http_start(&options, &fixture.http, &error) != FOLIO_OK)
    fail_msg("%s", error.message);
  fixture.port = folio_http_port(fixture.http);
  return fixture;
}

void fixture_stop(struct fixture *fixture) {
  folio_http_stop(fixture->http);
  struct fake_counts counts = fake_counts();
  assert_int_equal(counts.live, 0);
  assert_int_equal(counts.unfreed, 0);
}

static int64_t read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t fixture_cpu_ns(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t fixture_now_ns(void) {
  return read_clock(CLOCK_MONOTONIC);
}
