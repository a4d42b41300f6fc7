#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "failure.h"

static const struct failure plain = {
    .target = "127.0.0.1:7788",
    .phrase = "hello",
    .status = RPC_INTERNAL,
    .reason = "it broke",
    .elapsed_ns = 1234567890,
};

static void assert_described(struct failure failure, const char *expected) {
  struct rpc_error error;
  failure_describe(&failure, &error);
  assert_string_equal(error.message, expected);
}

static void test_names_phrase_status_reason_and_advice(void **state) {
  (void)state;
  assert_described(plain, "request \"hello\" to 127.0.0.1:7788 failed: INTERNAL after 1.235s: "
                          "it broke; look at what the server logged");
}

static void test_advice_fits_the_status(void **state) {
  (void)state;
  static const struct {
    enum rpc_status status;
    const char *ending;
  } cases[] = {
      {RPC_DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED after 1.235s: it broke; give -timeout more"},
      {RPC_RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED after 1.235s: it broke; give -concurrency less, "
                               "or the server a higher -max_in_flight"},
      {RPC_INVALID_ARGUMENT, "INVALID_ARGUMENT after 1.235s: it broke; correct the phrase in the "
                             "file given with -queries"},
      {RPC_UNIMPLEMENTED, "UNIMPLEMENTED after 1.235s: it broke; is another program than "
                          "shakesapp-server listening there?"},
      {RPC_UNAVAILABLE, "UNAVAILABLE after 1.235s: it broke; look whether the server still runs "
                        "and what it logged"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct failure failure = plain;
    failure.status = cases[i].status;
    struct rpc_error error;
    failure_describe(&failure, &error);
    const char *status = strstr(error.message, rpc_status_name(cases[i].status));
    assert_non_null(status);
    assert_string_equal(status, cases[i].ending);
  }
}

static void test_tells_no_connection_from_a_refusal(void **state) {
  (void)state;
  struct failure failure = plain;
  failure.status = RPC_UNAVAILABLE;
  failure.reason = "failed to connect to all addresses; last error: Connection refused";
  assert_described(failure, "cannot reach 127.0.0.1:7788: failed to connect to all addresses; last "
                            "error: Connection refused; is the server running? Start it with "
                            "shakesapp-server");
  failure.target = "nowhere.example:1";
  failure.reason = "DNS resolution failed for nowhere.example:1: no such name";
  assert_described(failure, "cannot reach nowhere.example:1: DNS resolution failed for "
                            "nowhere.example:1: no such name; is the server running? Start it "
                            "with shakesapp-server");
}

static void test_escapes_control_bytes(void **state) {
  (void)state;
  struct failure failure = plain;
  failure.phrase = "a\nb\x1b[31m\x7f";
  failure.reason = "two\r\nlines";
  assert_described(failure, "request \"a\\x0ab\\x1b[31m\\x7f\" to 127.0.0.1:7788 failed: INTERNAL "
                            "after 1.235s: two\\x0d\\x0alines; look at what the server logged");
}

static void test_says_that_there_is_no_reason(void **state) {
  (void)state;
  struct failure failure = plain;
  failure.reason = "";
  assert_described(failure, "request \"hello\" to 127.0.0.1:7788 failed: INTERNAL after 1.235s: "
                            "no reason given; look at what the server logged");
}

/* The phrase as shown: what stands between the message's first two quotation marks. */
static void assert_shown(const char *phrase, const char *expected) {
  struct failure failure = plain;
  failure.phrase = phrase;
  struct rpc_error error;
  failure_describe(&failure, &error);
  char *shown = strchr(error.message, '"') + 1;
  *strchr(shown, '"') = '\0';
  assert_string_equal(shown, expected);
}

#define TEN "0123456789"
#define FIFTY_NINE TEN TEN TEN TEN TEN "012345678"

static void test_cuts_a_long_phrase(void **state) {
  (void)state;
  assert_shown("", "");
  assert_shown(FIFTY_NINE "9", FIFTY_NINE "9");
  assert_shown(FIFTY_NINE "9z", FIFTY_NINE "9...");
  assert_shown(FIFTY_NINE "\xc3\xa9", FIFTY_NINE "...");
  assert_shown(FIFTY_NINE "\xf0\x9f\x8e\xad", FIFTY_NINE "...");
  assert_shown(FIFTY_NINE "\x01", FIFTY_NINE "\\x01");
}

static void test_a_long_reason_leaves_room_for_the_advice(void **state) {
  (void)state;
  char reason[256];
  memset(reason, 'r', sizeof(reason) - 1);
  reason[sizeof(reason) - 1] = '\0';
  struct failure failure = plain;
  failure.reason = reason;
  failure.phrase = FIFTY_NINE FIFTY_NINE;
  struct rpc_error error;
  failure_describe(&failure, &error);
  const char *ending = strstr(error.message, "r...; ");
  assert_non_null(ending);
  assert_string_equal(ending, "r...; look at what the server logged");
}

static void test_wrong_answer(void **state) {
  (void)state;
  struct rpc_error error;
  failure_describe_wrong(&(struct query){"to be,\tor", 349}, -3, &error);
  assert_string_equal(error.message,
                      "\"to be,\\x09or\" was answered -3, expected 349: the server's "
                      "text or code is wrong (for another text give -queries)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_phrase_status_reason_and_advice),
      cmocka_unit_test(test_advice_fits_the_status),
      cmocka_unit_test(test_tells_no_connection_from_a_refusal),
      cmocka_unit_test(test_escapes_control_bytes),
      cmocka_unit_test(test_says_that_there_is_no_reason),
      cmocka_unit_test(test_cuts_a_long_phrase),
      cmocka_unit_test(test_a_long_reason_leaves_room_for_the_advice),
      cmocka_unit_test(test_wrong_answer),
  };
  return cmocka_run_group_tests_name("client/failure", tests, NULL, NULL);
}
