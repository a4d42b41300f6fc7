#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/report.h"

#define TIME_LENGTH (sizeof("2006/01/02 15:04:05 ") - 1)

/* A report whose log goes to a pipe and whose JSON goes to a file. */
struct fixture {
  struct flags flags;
  struct log log;
  int log_fds[2];
  char json_path[32];
  struct report *report;
  char text[4096];
  char *next_line;
};

static void fixture_open(struct fixture *fixture, enum program program) {
  struct app_error error = {"no error"};
  memset(fixture, 0, sizeof(*fixture));
  snprintf(fixture->json_path, sizeof(fixture->json_path), "/tmp/report-XXXXXX");
  int json = mkstemp(fixture->json_path);
  assert_true(json >= 0);
  close(json);
  assert_int_equal(pipe2(fixture->log_fds, O_CLOEXEC), 0);
  log_init(&fixture->log, fixture->log_fds[1]);
  flags_init(program, &fixture->flags);
  fixture->flags.json = fixture->json_path;
  fixture->flags.seed = 77;
  if (report_create(&fixture->flags, &fixture->log, &fixture->report, &error) != 0)
    fail_msg("%s", error.message);
}

/* Ends the report and takes in its log. */
static void fixture_read(struct fixture *fixture) {
  report_destroy(fixture->report);
  log_fini(&fixture->log);
  close(fixture->log_fds[1]);
  ssize_t got = read(fixture->log_fds[0], fixture->text, sizeof(fixture->text) - 1);
  assert_true(got > 0);
  close(fixture->log_fds[0]);
  fixture->next_line = fixture->text;
}

/* The log's next message, without its time. */
static const char *next_message(struct fixture *fixture) {
  char *line = strsep(&fixture->next_line, "\n");
  assert_non_null(line);
  assert_in_range(strlen(line), TIME_LENGTH, 1000);
  return line + TIME_LENGTH;
}

static struct simulator_tally tally_of(uint64_t requests, int64_t elapsed_ns) {
  struct simulator_tally tally = {.requests = requests, .elapsed_ns = elapsed_ns};
  tally.by_status[RPC_OK] = requests;
  for (uint64_t i = 0; i < requests; i++)
    latency_record(&tally.latency, elapsed_ns / (int64_t)requests);
  return tally;
}

static void run_round(struct fixture *fixture, uint64_t round,
                      const struct simulator_tally *tally) {
  struct simulator_observer observer = report_observer(fixture->report);
  assert_null(observer.request_done);
  observer.round_started(observer.context, round);
  observer.round_ended(observer.context, round, tally);
}

static void finish(struct fixture *fixture, enum simulator_outcome outcome,
                   const struct simulator_tally *total) {
  struct app_error error = {"no error"};
  if (report_finish(fixture->report, outcome, total, &error) != 0)
    fail_msg("%s", error.message);
}

static void test_round_lines(void **state) {
  (void)state;
  static const struct {
    uint64_t requests;
    int64_t elapsed_ns;
    const char *line;
  } rounds[] = {
      {20, INT64_C(3670000123), "Simulated 20 requests in 3.67s, rate of 5.449591 reqs / sec"},
      {20, INT64_C(92230000000), "Simulated 20 requests in 1m32.23s, rate of 0.216849 reqs / sec"},
      {3, INT64_C(980000000), "Simulated 3 requests in 980ms, rate of 3.061224 reqs / sec"},
      {20, INT64_C(4999999), "Simulated 20 requests in 0s, rate of 4000.000800 reqs / sec"},
      {0, 0, "Simulated 0 requests in 0s, rate of 0.000000 reqs / sec"},
  };
  struct fixture fixture;
  fixture_open(&fixture, PROGRAM_APP);
  for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
    struct simulator_tally tally = {.requests = rounds[i].requests,
                                    .elapsed_ns = rounds[i].elapsed_ns};
    run_round(&fixture, i + 1, &tally);
  }
  fixture_read(&fixture);
  for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
    char start[64];
    snprintf(start, sizeof(start), "Simulating client requests, round %zu", i + 1);
    assert_string_equal(next_message(&fixture), start);
    assert_string_equal(next_message(&fixture), rounds[i].line);
  }
  unlink(fixture.json_path);
}

static void test_summary_of_a_good_run(void **state) {
  (void)state;
  struct fixture fixture;
  struct simulator_tally total = tally_of(40, INT64_C(2000000000));
  fixture_open(&fixture, PROGRAM_APP);
  finish(&fixture, SIMULATOR_DONE, &total);
  fixture_read(&fixture);
  assert_string_equal(next_message(&fixture),
                      "Total: 40 requests in 0 rounds and 2s, 20.000000 requests a second");
  assert_string_equal(next_message(&fixture), "Answers: 40, wrong: 0; no errors");
  assert_string_equal(next_message(&fixture), "Latency: p50 50ms, p90 50ms, p99 50ms, max 50ms");
  unlink(fixture.json_path);
}

static void test_summary_of_a_bad_run(void **state) {
  (void)state;
  struct fixture fixture;
  struct simulator_tally total = tally_of(5, INT64_C(1000000000));
  total.by_status[RPC_OK] = 1;
  total.by_status[RPC_UNAVAILABLE] = 3;
  total.by_status[RPC_DEADLINE_EXCEEDED] = 1;
  total.wrong = 1;
  fixture_open(&fixture, PROGRAM_CLIENT);
  finish(&fixture, SIMULATOR_FAILED, &total);
  fixture_read(&fixture);
  next_message(&fixture);
  assert_string_equal(next_message(&fixture),
                      "Answers: 1, wrong: 1; errors: 1 DEADLINE_EXCEEDED, 3 UNAVAILABLE");
  unlink(fixture.json_path);
}

/* The keys of an object, in their order, with commas between them. */
static void assert_keys(const json_t *object, const char *expected) {
  char keys[512] = "";
  const char *key;
  json_t *value;
  size_t used = 0;
  json_object_foreach((json_t *)(uintptr_t)object, key, value) {
    used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s", used > 0 ? "," : "", key);
  }
  assert_string_equal(keys, expected);
}

static json_t *read_json(FILE *file) {
  json_error_t error;
  json_t *object = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
  if (object == NULL)
    fail_msg("%s", error.text);
  return object;
}

static long long integer(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  assert_true(json_is_integer(value));
  return json_integer_value(value);
}

static void assert_real(const json_t *object, const char *key, double expected) {
  json_t *value = json_object_get(object, key);
  assert_true(json_is_real(value));
  assert_float_equal((float)json_real_value(value), (float)expected, 1e-6f);
}

static void assert_text(const json_t *object, const char *key, const char *expected) {
  json_t *value = json_object_get(object, key);
  assert_true(json_is_string(value));
  assert_string_equal(json_string_value(value), expected);
}

static void check_round(const json_t *round) {
  assert_keys(round, "type,round,requests,seconds,rate,wrong,errors");
  assert_text(round, "type", "round");
  assert_int_equal(integer(round, "round"), 1);
  assert_int_equal(integer(round, "requests"), 4);
  assert_int_equal(integer(round, "wrong"), 1);
  assert_real(round, "seconds", 0.5);
  assert_real(round, "rate", 8);
  assert_keys(json_object_get(round, "errors"), "UNAVAILABLE");
  assert_int_equal(integer(json_object_get(round, "errors"), "UNAVAILABLE"), 2);
}

static void check_summary(const json_t *summary) {
  assert_keys(summary, "type,program,version,seed,concurrency,rounds,requests,seconds,rate,wrong,"
                       "errors,latency_ms,cpu_seconds,minor_page_faults,outcome");
  assert_text(summary, "type", "summary");
  assert_text(summary, "program", "shakesapp");
  assert_int_equal(integer(summary, "version"), 1);
  assert_int_equal(integer(summary, "seed"), 77);
  assert_int_equal(integer(summary, "concurrency"), 1);
  assert_int_equal(integer(summary, "rounds"), 1);
  assert_text(summary, "outcome", "failed");
  assert_true(json_is_real(json_object_get(summary, "cpu_seconds")));
  assert_in_range(integer(summary, "minor_page_faults"), 0, 1000000);
  const json_t *latency = json_object_get(summary, "latency_ms");
  assert_keys(latency, "p50,p90,p99,max");
  assert_real(latency, "max", 125);
}

static void test_json_lines(void **state) {
  (void)state;
  struct fixture fixture;
  struct simulator_tally tally = tally_of(4, INT64_C(500000000));
  tally.by_status[RPC_OK] = 2;
  tally.by_status[RPC_UNAVAILABLE] = 2;
  tally.wrong = 1;
  fixture_open(&fixture, PROGRAM_APP);
  run_round(&fixture, 1, &tally);
  finish(&fixture, SIMULATOR_FAILED, &tally);
  fixture_read(&fixture);

  FILE *file = fopen(fixture.json_path, "re");
  assert_non_null(file);
  json_t *round = read_json(file);
  assert_int_equal(fgetc(file), '\n');
  json_t *summary = read_json(file);
  assert_int_equal(fgetc(file), '\n');
  assert_int_equal(fgetc(file), EOF);
  check_round(round);
  check_summary(summary);
  json_decref(round);
  json_decref(summary);
  fclose(file);
  unlink(fixture.json_path);
}

static void test_summary_of_the_client_has_no_version(void **state) {
  (void)state;
  struct fixture fixture;
  struct simulator_tally total = tally_of(1, 1);
  fixture_open(&fixture, PROGRAM_CLIENT);
  finish(&fixture, SIMULATOR_STOPPED, &total);
  fixture_read(&fixture);
  json_error_t error;
  json_t *summary = json_load_file(fixture.json_path, 0, &error);
  assert_non_null(summary);
  assert_text(summary, "program", "shakesapp-client");
  assert_text(summary, "outcome", "stopped");
  assert_null(json_object_get(summary, "version"));
  assert_keys(json_object_get(summary, "errors"), "");
  json_decref(summary);
  unlink(fixture.json_path);
}

static void test_json_file_that_cannot_be_opened(void **state) {
  (void)state;
  struct flags flags;
  struct report *report = NULL;
  struct app_error error;
  flags_init(PROGRAM_CLIENT, &flags);
  flags.json = "/no/such/folder/run.json";
  assert_int_equal(report_create(&flags, NULL, &report, &error), -1);
  assert_null(report);
  assert_string_equal(error.message, "-json: cannot write /no/such/folder/run.json: No such file "
                                     "or directory; name a file that can be written");
}

static void test_json_file_on_a_full_disk(void **state) {
  (void)state;
  struct flags flags;
  struct report *report = NULL;
  struct app_error error;
  struct simulator_tally total = tally_of(1, 1);
  flags_init(PROGRAM_CLIENT, &flags);
  flags.json = "/dev/full";
  assert_int_equal(report_create(&flags, NULL, &report, &error), 0);
  assert_int_equal(report_finish(report, SIMULATOR_DONE, &total, &error), -1);
  assert_string_equal(error.message, "-json: cannot write /dev/full: No space left on device");
  report_destroy(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_lines),
      cmocka_unit_test(test_summary_of_a_good_run),
      cmocka_unit_test(test_summary_of_a_bad_run),
      cmocka_unit_test(test_json_lines),
      cmocka_unit_test(test_summary_of_the_client_has_no_version),
      cmocka_unit_test(test_json_file_that_cannot_be_opened),
      cmocka_unit_test(test_json_file_on_a_full_disk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
