#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/duration.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MILLISECOND_NS INT64_C(1000000)

/* What Go 1.26 prints: d.String() and d.Round(10 * time.Millisecond).String(). */
static const struct {
  int64_t duration_ns;
  const char *exact;
  const char *rounded;
} printed[] = {
    {0, "0s", "0s"},
    {1, "1ns", "0s"},
    {999, "999ns", "0s"},
    {1000, "1µs", "0s"},
    {1500, "1.5µs", "0s"},
    {999999, "999.999µs", "0s"},
    {1000000, "1ms", "0s"},
    {4999999, "4.999999ms", "0s"},
    {5000000, "5ms", "10ms"},
    {5000001, "5.000001ms", "10ms"},
    {14999999, "14.999999ms", "10ms"},
    {15000000, "15ms", "20ms"},
    {980000000, "980ms", "980ms"},
    {984999999, "984.999999ms", "980ms"},
    {985000000, "985ms", "990ms"},
    {994999999, "994.999999ms", "990ms"},
    {995000000, "995ms", "1s"},
    {999999999, "999.999999ms", "1s"},
    {1000000000, "1s", "1s"},
    {3670000000, "3.67s", "3.67s"},
    {3674999999, "3.674999999s", "3.67s"},
    {3675000000, "3.675s", "3.68s"},
    {59994999999, "59.994999999s", "59.99s"},
    {59995000000, "59.995s", "1m0s"},
    {60000000000, "1m0s", "1m0s"},
    {92230000000, "1m32.23s", "1m32.23s"},
    {3599995000000, "59m59.995s", "1h0m0s"},
    {3600000000000, "1h0m0s", "1h0m0s"},
    {3605000000000, "1h0m5s", "1h0m5s"},
    {9223372036854775807, "2562047h47m16.854775807s", "2562047h47m16.85s"},
    {INT64_MIN, "-2562047h47m16.854775808s", "-2562047h47m16.85s"},
    {-1, "-1ns", "0s"},
    {-5000000, "-5ms", "-10ms"},
    {-15000000, "-15ms", "-20ms"},
    {-4999999, "-4.999999ms", "0s"},
    {-1500000000, "-1.5s", "-1.5s"},
    {123456789, "123.456789ms", "120ms"},
    {1234567890123, "20m34.567890123s", "20m34.57s"},
};

static void test_formats_as_go(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(printed); i++) {
    char text[DURATION_TEXT_BYTES];
    duration_format(printed[i].duration_ns, text);
    assert_string_equal(text, printed[i].exact);
  }
}

static void test_rounds_as_go(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(printed); i++) {
    char text[DURATION_TEXT_BYTES];
    duration_format(duration_round(printed[i].duration_ns, 10 * MILLISECOND_NS), text);
    assert_string_equal(text, printed[i].rounded);
  }
}

static void test_rounding_stays_in_range(void **state) {
  (void)state;
  assert_int_equal(duration_round(INT64_MAX, INT64_MAX), INT64_MAX);
  assert_int_equal(duration_round(INT64_MAX, 10), INT64_MAX);
  assert_int_equal(duration_round(INT64_MIN, 10), INT64_MIN);
  assert_int_equal(duration_round(INT64_MIN, 1), INT64_MIN);
}

/* What time.ParseDuration of Go 1.26 makes of these. */
static void test_reads_what_go_reads(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t duration_ns;
  } cases[] = {
      {"0", 0},
      {"+0", 0},
      {"-0", 0},
      {"5s", 5000000000},
      {"30s", 30000000000},
      {"1478s", 1478000000000},
      {"-5s", -5000000000},
      {"+5s", 5000000000},
      {"5.0s", 5000000000},
      {"5.6s", 5600000000},
      {"5.s", 5000000000},
      {".5s", 500000000},
      {"1.0s", 1000000000},
      {"1.004s", 1004000000},
      {"100.00100s", 100001000000},
      {"10ns", 10},
      {"11us", 11000},
      {"12\u00b5s", 12000},
      {"12\u03bcs", 12000},
      {"13ms", 13000000},
      {"14s", 14000000000},
      {"15m", 900000000000},
      {"16h", 57600000000000},
      {"3h30m", 12600000000000},
      {"10.5s4m", 250500000000},
      {"-2m3.4s", -123400000000},
      {"1h2m3s4ms5us6ns", 3723004005006},
      {"39h9m14.425s", 140954425000000},
      {"52763797000ns", 52763797000},
      {"0.3333333333333333333h", 1200000000000},
      {"9007199254740993ns", 9007199254740993},
      {"9223372036854775807ns", 9223372036854775807},
      {"9223372036854775.807us", 9223372036854775807},
      {"9223372036s854ms775us807ns", 9223372036854775807},
      {"-9223372036854775808ns", INT64_MIN},
      {"0.100000000000000000000h", 360000000000},
      {"0.830103483285477580700h", 2988372539827},
      {"1.5h", 5400000000000},
      {"90s", 90000000000},
      {"1m30s", 90000000000},
      {"500ms", 500000000},
      {"0.9223372036854775808s", 922337203},
      {"1s1s", 2000000000},
      {"0s", 0},
      {"00s", 0},
      {"1.s2ms", 1002000000},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    int64_t duration_ns = -7;
    if (!duration_parse(cases[i].text, &duration_ns))
      fail_msg("\"%s\" was refused", cases[i].text);
    assert_int_equal(duration_ns, cases[i].duration_ns);
  }
}

static void test_refuses_what_go_refuses(void **state) {
  (void)state;
  static const char *const cases[] = {
      "",
      "5",
      "9223372036854775808ns",
      ".",
      "-.",
      "s",
      ".s",
      "+",
      "-",
      "1",
      "3d",
      "1e3s",
      " 5s",
      "5s ",
      "1s2",
      "--5s",
      "5S",
      "9223372036854775.808us",
      "9223372036854ms775us808ns",
      "3000000h",
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    int64_t duration_ns = -7;
    if (duration_parse(cases[i], &duration_ns))
      fail_msg("\"%s\" was read as %lld ns", cases[i], (long long)duration_ns);
    assert_int_equal(duration_ns, -7);
  }
}

static void test_reads_back_what_it_wrote(void **state) {
  (void)state;
  for (int64_t duration_ns = 1; duration_ns < INT64_MAX / 7; duration_ns = duration_ns * 7 + 3) {
    char text[DURATION_TEXT_BYTES];
    int64_t read_ns = 0;
    duration_format(duration_ns, text);
    assert_true(duration_parse(text, &read_ns));
    assert_int_equal(read_ns, duration_ns);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formats_as_go),
      cmocka_unit_test(test_rounds_as_go),
      cmocka_unit_test(test_rounding_stays_in_range),
      cmocka_unit_test(test_reads_what_go_reads),
      cmocka_unit_test(test_refuses_what_go_refuses),
      cmocka_unit_test(test_reads_back_what_it_wrote),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
