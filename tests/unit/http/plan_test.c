#include "plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "query.h"

#define MAX_SECONDS 3600

static void assert_error(const char *uri, unsigned int status, const char *message) {
  struct plan plan = plan_make(uri, MAX_SECONDS);
  if (plan.kind != PLAN_ERROR || plan.status != status || strcmp(plan.message, message) != 0)
    fail_msg("%s: kind %d, status %u \"%s\" instead of %u \"%s\"", uri, (int)plan.kind, plan.status,
             plan.message, status, message);
}

static void assert_record(const char *uri, enum folio_type type, int64_t seconds,
                          const char *file_name) {
  struct plan plan = plan_make(uri, MAX_SECONDS);
  if (plan.kind != PLAN_RECORD || plan.type != type || plan.seconds != seconds)
    fail_msg("%s: kind %d, type %d, %lld seconds (%s)", uri, (int)plan.kind, (int)plan.type,
             (long long)plan.seconds, plan.message);
  assert_string_equal(plan.file_name, file_name);
}

static void assert_snapshot(const char *uri, enum folio_type type, const char *file_name) {
  struct plan plan = plan_make(uri, MAX_SECONDS);
  if (plan.kind != PLAN_SNAPSHOT || plan.type != type)
    fail_msg("%s: kind %d, type %d (%s)", uri, (int)plan.kind, (int)plan.type, plan.message);
  assert_string_equal(plan.file_name, file_name);
}

static void cpu_seconds_that_are_no_positive_number_mean_30(void **state) {
  (void)state;
  const char *const values[] = {"",
                                "?seconds",
                                "?seconds=",
                                "?seconds=0",
                                "?seconds=-5",
                                "?seconds=2.5",
                                "?seconds=abc",
                                "?seconds=5s",
                                "?seconds=+5",
                                "?seconds=%zz",
                                "?seconds=9223372036854775808",
                                "?second=5",
                                "?seconds=5;a=b"};
  char uri[128];
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
    snprintf(uri, sizeof(uri), "/debug/pprof/profile%s", values[i]);
    assert_record(uri, FOLIO_CPU, 30, "profile");
  }
}

static void cpu_seconds_are_taken_up_to_the_limit(void **state) {
  (void)state;
  assert_record("/debug/pprof/profile?seconds=1", FOLIO_CPU, 1, "profile");
  assert_record("/debug/pprof/profile?seconds=%2B007", FOLIO_CPU, 7, "profile");
  assert_record("/debug/pprof/profile?seconds=3600", FOLIO_CPU, 3600, "profile");
  assert_error("/debug/pprof/profile?seconds=3601", 400,
               "profile duration exceeds the server's limit of 3600 seconds");
  assert_error("/debug/pprof/profile?seconds=9223372036854775807", 400,
               "profile duration exceeds the server's limit of 3600 seconds");
}

static void a_limit_below_30_seconds_is_the_default(void **state) {
  (void)state;
  assert_true(plan_make("/debug/pprof/profile", 10).seconds == 10);
  assert_true(plan_make("/debug/pprof/profile", 30).seconds == 30);
}

static void debug_and_gc_mean_nothing_where_go_ignores_them(void **state) {
  (void)state;
  assert_record("/debug/pprof/profile?debug=1&seconds=2", FOLIO_CPU, 2, "profile");
  assert_snapshot("/debug/pprof/heap?gc=1", FOLIO_HEAP, "heap");
  assert_snapshot("/debug/pprof/heap?gc=abc", FOLIO_HEAP, "heap");
  assert_snapshot("/debug/pprof/allocs?debug=0", FOLIO_ALLOCS, "allocs");
  assert_snapshot("/debug/pprof/allocs?debug=abc", FOLIO_ALLOCS, "allocs");
}

static void memory_seconds_must_be_a_positive_number(void **state) {
  (void)state;
  const char *const values[] = {"0", "-1", "abc", "1.5", "5s", "+5", "9223372036854775808"};
  char uri[128];
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
    snprintf(uri, sizeof(uri), "/debug/pprof/%s?debug=1&seconds=%s", i % 2 == 0 ? "heap" : "allocs",
             values[i]);
    assert_error(uri, 400, "invalid value for \"seconds\" - must be a positive integer");
  }
}

static void memory_seconds_ask_for_a_delta(void **state) {
  (void)state;
  assert_record("/debug/pprof/heap?seconds=5", FOLIO_HEAP, 5, "heap-delta");
  assert_record("/debug/pprof/allocs?seconds=5&gc=1", FOLIO_ALLOCS, 5, "allocs-delta");
  assert_snapshot("/debug/pprof/heap?seconds=", FOLIO_HEAP, "heap");
  assert_snapshot("/debug/pprof/heap?seconds", FOLIO_HEAP, "heap");
  assert_error("/debug/pprof/heap?seconds=4000&debug=1", 400,
               "profile duration exceeds the server's limit of 3600 seconds");
}

static void memory_debug_is_refused(void **state) {
  (void)state;
  assert_error("/debug/pprof/heap?seconds=5&debug=1", 400,
               "seconds and debug params are incompatible");
  assert_error("/debug/pprof/heap?seconds=5&debug=-1", 400,
               "seconds and debug params are incompatible");
  const char *const message = "debug is not supported: leave it out for the binary profile, which "
                              "`go tool pprof` and `folio top` show as text";
  assert_error("/debug/pprof/heap?debug=1", 400, message);
  assert_error("/debug/pprof/allocs?debug=2&seconds=", 400, message);
  assert_error("/debug/pprof/allocs?debug=9223372036854775808", 400, message);
}

static void pages_are_found(void **state) {
  (void)state;
  assert_int_equal(plan_make("/debug/pprof/", MAX_SECONDS).kind, PLAN_INDEX);
  assert_int_equal(plan_make("/debug/pprof/?seconds=abc", MAX_SECONDS).kind, PLAN_INDEX);
  assert_int_equal(plan_make("/debug/ppro%66/", MAX_SECONDS).kind, PLAN_INDEX);
  assert_int_equal(plan_make("/debug/pprof", MAX_SECONDS).kind, PLAN_REDIRECT);
  assert_int_equal(plan_make("/debug/pprof?x", MAX_SECONDS).kind, PLAN_REDIRECT);
  assert_int_equal(plan_make("/", MAX_SECONDS).kind, PLAN_REDIRECT);
}

static void other_paths_are_unknown(void **state) {
  (void)state;
  const char *const paths[] = {"",
                               "*",
                               "/x",
                               "/debug",
                               "/debug/",
                               "/debug/ppro",
                               "/debug/pprof//",
                               "/debug/pprof/heap/",
                               "/debug/pprof/Heap",
                               "/debug/pprof/goroutine",
                               "/debug/pprof/../pprof/heap",
                               "//debug/pprof/heap",
                               "http://evil.example/debug/pprof/heap",
                               "?seconds=5",
                               "/debug/pprof/profile&seconds=5"};
  for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
    assert_error(paths[i], 404, "Unknown profile");
}

static void malformed_paths_are_refused(void **state) {
  (void)state;
  assert_error("/debug/pprof/heap%00", 400, "the address is malformed");
  assert_error("/debug/pprof/heap%", 400, "the address is malformed");
  assert_error("/debug/pprof/%zzheap", 400, "the address is malformed");
}

static void the_longest_address_is_taken_and_a_longer_one_is_not(void **state) {
  (void)state;
  char uri[QUERY_URI_BYTES_MAX + 2];
  memset(uri, 'x', sizeof(uri));
  static const char start[] = "/debug/pprof/heap?";
  memcpy(uri, start, sizeof(start) - 1);
  uri[QUERY_URI_BYTES_MAX + 1] = '\0';
  assert_error(uri, 414, "the address is longer than 2048 bytes");
  uri[QUERY_URI_BYTES_MAX] = '\0';
  assert_snapshot(uri, FOLIO_HEAP, "heap");
}

static void every_profile_listed_is_served_under_its_name(void **state) {
  (void)state;
  size_t count;
  const struct plan_profile *profiles = plan_profiles(&count);
  assert_int_equal(count, 3);
  for (size_t i = 0; i < count; i++) {
    char uri[64];
    snprintf(uri, sizeof(uri), "/debug/pprof/%s", profiles[i].name);
    struct plan plan = plan_make(uri, MAX_SECONDS);
    assert_int_equal(plan.type, profiles[i].type);
    assert_string_equal(plan.file_name, profiles[i].name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cpu_seconds_that_are_no_positive_number_mean_30),
      cmocka_unit_test(cpu_seconds_are_taken_up_to_the_limit),
      cmocka_unit_test(a_limit_below_30_seconds_is_the_default),
      cmocka_unit_test(debug_and_gc_mean_nothing_where_go_ignores_them),
      cmocka_unit_test(memory_seconds_must_be_a_positive_number),
      cmocka_unit_test(memory_seconds_ask_for_a_delta),
      cmocka_unit_test(memory_debug_is_refused),
      cmocka_unit_test(pages_are_found),
      cmocka_unit_test(other_paths_are_unknown),
      cmocka_unit_test(malformed_paths_are_refused),
      cmocka_unit_test(the_longest_address_is_taken_and_a_longer_one_is_not),
      cmocka_unit_test(every_profile_listed_is_served_under_its_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
