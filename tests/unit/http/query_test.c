#include "query.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state = 1;

static uint64_t random_u64(void) { /* splitmix64 */
  uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static struct query_text text_of(const char *string) {
  struct query_text text = {.length = strlen(string)};
  memcpy(text.bytes, string, text.length + 1);
  return text;
}

static void every_number_is_read_back(void **state) {
  (void)state;
  for (int round = 0; round < 20000; round++) {
    int64_t expected = (int64_t)(random_u64() >> (random_u64() % 64));
    if (random_u64() % 2 == 0 && expected != INT64_MIN)
      expected = -expected;
    char digits[32];
    snprintf(digits, sizeof(digits), "%s%" PRId64, expected >= 0 && round % 3 == 0 ? "+" : "",
             expected);
    struct query_text text = text_of(digits);
    int64_t number = 7;
    assert_true(query_integer(&text, &number));
    assert_true(number == expected);
  }
}

static void what_is_no_number_is_zero(void **state) {
  (void)state;
  const char *const none[] = {"",   "-",    "+",   "+-1", "1.5", "1e3",     " 1",
                              "1 ", "0x10", "1_0", "abc", "5s",  "\xd9\xa1"};
  for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
    struct query_text text = text_of(none[i]);
    int64_t number = 7;
    if (query_integer(&text, &number))
      fail_msg("\"%s\" was read as %" PRId64, none[i], number);
    assert_int_equal(number, 0);
  }
  struct query_text with_nul = {.length = 3, .bytes = "5\0x"};
  int64_t number = 7;
  assert_false(query_integer(&with_nul, &number));
}

static void what_is_out_of_range_is_the_nearest(void **state) {
  (void)state;
  struct query_text text = text_of("9223372036854775807");
  int64_t number;
  assert_true(query_integer(&text, &number));
  assert_true(number == INT64_MAX);
  text = text_of("-9223372036854775808");
  assert_true(query_integer(&text, &number));
  assert_true(number == INT64_MIN);
  text = text_of("9223372036854775808");
  assert_false(query_integer(&text, &number));
  assert_true(number == INT64_MAX);
  text = text_of("-99999999999999999999999");
  assert_false(query_integer(&text, &number));
  assert_true(number == INT64_MIN);
}

static void any_bytes_survive_percent_encoding(void **state) {
  (void)state;
  for (int round = 0; round < 500; round++) {
    unsigned char bytes[300];
    char encoded[3 * sizeof(bytes) + 1];
    size_t length = random_u64() % sizeof(bytes);
    for (size_t i = 0; i < length; i++) {
      bytes[i] = (unsigned char)random_u64();
      snprintf(encoded + 3 * i, 4, i % 2 == 0 ? "%%%02x" : "%%%02X", bytes[i]);
    }
    struct query_text text;
    assert_true(query_unescape(encoded, 3 * length, true, &text));
    assert_int_equal(text.length, length);
    assert_memory_equal(text.bytes, bytes, length);
    assert_int_equal(text.bytes[length], '\0');
  }
}

static void malformed_encodings_are_refused(void **state) {
  (void)state;
  const char *const wrong[] = {"%", "a%", "%4", "%4g", "%g4", "ab%-1", "%%41"};
  struct query_text text;
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    if (query_unescape(wrong[i], strlen(wrong[i]), true, &text))
      fail_msg("\"%s\" was taken as \"%s\"", wrong[i], text.bytes);
  }
  /* Where the text ends, the encoding does too, whatever follows in memory. */
  assert_false(query_unescape("%41", 2, true, &text));
}

static void a_plus_is_a_space_in_queries_only(void **state) {
  (void)state;
  struct query_text text;
  assert_true(query_unescape("a+b", 3, true, &text));
  assert_string_equal(text.bytes, "a b");
  assert_true(query_unescape("a+b", 3, false, &text));
  assert_string_equal(text.bytes, "a+b");
}

static void the_longest_text_fits_and_a_longer_one_does_not(void **state) {
  (void)state;
  char bytes[QUERY_URI_BYTES_MAX + 1];
  memset(bytes, 'x', sizeof(bytes));
  struct query_text text;
  assert_true(query_unescape(bytes, QUERY_URI_BYTES_MAX, true, &text));
  assert_int_equal(text.length, QUERY_URI_BYTES_MAX);
  assert_false(query_unescape(bytes, QUERY_URI_BYTES_MAX + 1, true, &text));
}

static void assert_found(const char *query, const char *expected) {
  struct query_text text;
  if (!query_find(query, "seconds", &text))
    fail_msg("nothing found in \"%s\"", query);
  assert_string_equal(text.bytes, expected);
}

static void the_first_well_formed_value_is_found(void **state) {
  (void)state;
  assert_found("seconds=5", "5");
  assert_found("debug=1&seconds=5", "5");
  assert_found("seconds=5&seconds=6", "5");
  assert_found("seconds=%zz&seconds=6", "6");
  assert_found("seconds=5;debug=1&seconds=6", "6");
  assert_found("&&seconds=5&", "5");
  assert_found("seconds", "");
  assert_found("seconds=", "");
  assert_found("seconds=a=b", "a=b");
  assert_found("s%65conds=%35", "5");
  assert_found("seconds=+5", " 5");
  assert_found("seconds=%2B5", "+5");
}

static void other_keys_are_not_found(void **state) {
  (void)state;
  const char *const without[] = {
      "",   "&",          "second=5",     "secondss=5", "Seconds=5",      "=seconds",
      "=5", "xseconds=5", "seconds%00=5", "seconds;=5", "debug=seconds=5"};
  struct query_text text;
  for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
    if (query_find(without[i], "seconds", &text))
      fail_msg("\"%s\" was found in \"%s\"", text.bytes, without[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_is_read_back),
      cmocka_unit_test(what_is_no_number_is_zero),
      cmocka_unit_test(what_is_out_of_range_is_the_nearest),
      cmocka_unit_test(any_bytes_survive_percent_encoding),
      cmocka_unit_test(malformed_encodings_are_refused),
      cmocka_unit_test(a_plus_is_a_space_in_queries_only),
      cmocka_unit_test(the_longest_text_fits_and_a_longer_one_does_not),
      cmocka_unit_test(the_first_well_formed_value_is_found),
      cmocka_unit_test(other_keys_are_not_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
