#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

/* Written from the definition: the code point's bits in 1 to 4 bytes. */
static size_t encode(uint32_t code, char out[4]) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3F));
    code >>= 6;
  }
  out[0] = (char)((0xF0 << (4 - length) & 0xFF) | code);
  return length;
}

static void test_every_code_point(void **state) {
  (void)state;
  for (uint32_t code = 0; code <= 0x110100; code++) {
    char text[4];
    size_t length = encode(code, text);
    bool expected = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    if (utf8_is_valid(text, length) != expected)
      fail_msg("U+%04X: %d, not %d", code, !expected, expected);
  }
}

static void assert_repaired(const char *text, size_t length, const char *expected) {
  char out[128];
  assert_in_range(utf8_repaired_max(length), 0, sizeof(out) - 1);
  out[utf8_repair(text, length, out)] = '\0';
  assert_string_equal(out, expected);
}

#define BAD "\xEF\xBF\xBD"

static void test_chosen_texts(void **state) {
  (void)state;
  assert_repaired("", 0, "");
  assert_repaired("caf\xc3\xa9", 5, "caf\xc3\xa9");
  assert_repaired("caf\xe9", 4, "caf" BAD);
  assert_repaired("\xc0\xaf", 2, BAD BAD); /* overlong */
  assert_repaired("\xe0\x9f\xbf", 3, BAD BAD BAD);
  assert_repaired("\xf0\x8f\xbf\xbf", 4, BAD BAD BAD BAD);
  assert_repaired("\xc3(", 2, BAD "(");
  assert_repaired("\xed\xa0\x80", 3, BAD BAD BAD); /* a surrogate */
  assert_repaired("\xf4\x90\x80\x80", 4, BAD BAD BAD BAD);
  assert_repaired("x\xe2\x82", 3, "x" BAD BAD); /* cut */
  assert_repaired("\xe2\x82y", 3, BAD BAD "y");
  assert_repaired("\xff\xfe", 2, BAD BAD);
}

static void test_what_was_repaired_is_valid(void **state) {
  (void)state;
  uint64_t random = 5;
  for (int i = 0; i < 200000; i++) {
    char text[24];
    char once[3 * sizeof(text)];
    char twice[9 * sizeof(text)];
    size_t length = random_below(&random, sizeof(text) + 1);
    for (size_t j = 0; j < length; j++) {
      static const char bytes[] = "az\x80\xbf\xc2\xe0\xed\xf0\xf4\xff";
      text[j] = bytes[random_below(&random, sizeof(bytes) - 1)];
    }
    size_t repaired = utf8_repair(text, length, once);
    assert_in_range(repaired, length, utf8_repaired_max(length));
    assert_true(utf8_is_valid(once, repaired));
    assert_int_equal(utf8_repair(once, repaired, twice), repaired);
    assert_memory_equal(twice, once, repaired);
    if (utf8_is_valid(text, length))
      assert_int_equal(repaired, length);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_code_point),
      cmocka_unit_test(test_chosen_texts),
      cmocka_unit_test(test_what_was_repaired_is_valid),
  };
  return cmocka_run_group_tests_name("pprof_utf8", tests, NULL, NULL);
}
