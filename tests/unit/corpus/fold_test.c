#include "corpus/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

/* Folds and checks that the bound holds; `out_length` may be NULL. Owned. */
static char *fold(const char *text, size_t length, size_t *out_length) {
  size_t folded_length;
  char *folded = corpus_fold_copy(text, length, &folded_length);
  assert_non_null(folded);
  assert_in_range(folded_length, 0, corpus_fold_bound(length));
  if (out_length)
    *out_length = folded_length;
  return folded;
}

/* The definition, a code point at a time, against which the quick paths are held. */
static size_t fold_slowly(const char *text, size_t length, char *out) {
  size_t done = 0;
  size_t written = 0;
  while (done < length) {
    utf8proc_int32_t point;
    utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)text + done,
                                              (utf8proc_ssize_t)(length - done), &point);
    if (bytes < 1) {
      out[written++] = text[done++];
      continue;
    }
    done += (size_t)bytes;
    written +=
        (size_t)utf8proc_encode_char(utf8proc_tolower(point), (utf8proc_uint8_t *)out + written);
  }
  return written;
}

static void assert_folds_as_defined(const char *text, size_t length) {
  char *expected = malloc(4 * length + 1);
  assert_non_null(expected);
  size_t expected_length = fold_slowly(text, length, expected);
  size_t folded_length;
  char *folded = fold(text, length, &folded_length);
  assert_int_equal(folded_length, expected_length);
  assert_memory_equal(folded, expected, expected_length);

  size_t twice_length;
  char *twice = fold(folded, folded_length, &twice_length);
  assert_int_equal(twice_length, folded_length);
  assert_memory_equal(twice, folded, folded_length);
  free(twice);
  free(folded);
  free(expected);
}

static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

static void test_chosen_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *folded;
  } cases[] = {
      {"", ""},
      {"To Be, Or Not To Be?", "to be, or not to be?"},
      {"@AZ[`az{", "@az[`az{"},
      {"Élan vital, ÉTÉ", "élan vital, été"},
      {"ΟΔΥΣΣΕΥΣ", "οδυσσευσ"}, /* no final sigma: code point by code point */
      {"Война и Мир", "война и мир"},
      {"STRASSE straße ẞ", "strasse straße ß"},
      {"İstanbul", "istanbul"},
      {"K Å Ω", "k å ω"}, /* Kelvin, Angstrom and Ohm signs */
      {"Ⱥ Ⱦ", "ⱥ ⱦ"},     /* two bytes become three */
      {"ǅ", "ǆ"},         /* title case */
      {"𐐀", "𐐨"},         /* four bytes */
      {"日本語", "日本語"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *folded = fold(cases[i].text, strlen(cases[i].text), NULL);
    assert_string_equal(folded, cases[i].folded);
    free(folded);
  }
}

static void test_invalid_bytes_stay(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *folded;
  } cases[] = {
      {"\xff", "\xff"},
      {"A\x80Z", "a\x80z"},
      {"A\xc3", "a\xc3"}, /* cut short */
      {"\xc3"
       "A",
       "\xc3"
       "a"},
      {"\xc1\x81Z", "\xc1\x81z"},                 /* overlong A */
      {"\xe0\x81\x81Z", "\xe0\x81\x81z"},         /* overlong A */
      {"\xed\xa0\x80Z", "\xed\xa0\x80z"},         /* a surrogate */
      {"\xf4\x90\x80\x80Z", "\xf4\x90\x80\x80z"}, /* above U+10FFFF */
      {"\xe2\x82\xc3\x89Z", "\xe2\x82\xc3\xa9z"}, /* a good one after a cut one */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *folded = fold(cases[i].text, strlen(cases[i].text), NULL);
    assert_string_equal(folded, cases[i].folded);
    free(folded);
  }
}

static void test_every_code_point(void **state) {
  (void)state;
  size_t worst_growth = 0;
  for (utf8proc_int32_t point = 0; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff)
      continue;
    char text[4];
    char folded[16];
    size_t length = (size_t)utf8proc_encode_char(point, (utf8proc_uint8_t *)text);
    size_t folded_length = fold_slowly(text, length, folded);
    if (folded_length > corpus_fold_bound(length))
      fail_msg("U+%04X grows from %zu to %zu bytes", (unsigned)point, length, folded_length);
    if (folded_length > length + worst_growth)
      worst_growth = folded_length - length;
    assert_folds_as_defined(text, length);
  }
  assert_int_equal(worst_growth, 1);
}

static void test_worst_case_meets_the_bound(void **state) {
  (void)state;
  char text[200];
  for (size_t i = 0; i < sizeof text; i += 2)
    memcpy(text + i, "\xc8\xba", 2); /* U+023A */
  size_t folded_length;
  char *folded = fold(text, sizeof text, &folded_length);
  assert_int_equal(folded_length, corpus_fold_bound(sizeof text));
  free(folded);
}

static void test_random_bytes(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int round = 0; round < 20000; round++) {
    char text[80];
    size_t length = next_random(&random) % sizeof text;
    /* All ASCII, mostly ASCII, or anything: each path and each change between them. */
    uint32_t mask = (const uint32_t[]){0x7f, 0x7f, 0xff}[round % 3];
    for (size_t i = 0; i < length; i++) {
      text[i] = (char)(next_random(&random) & mask);
      if (round % 3 == 1 && next_random(&random) % 16 == 0)
        text[i] = (char)0xc3;
    }
    assert_folds_as_defined(text, length);
  }
}

static void test_random_code_points(void **state) {
  (void)state;
  uint64_t random = 2;
  for (int round = 0; round < 20000; round++) {
    char text[160];
    size_t length = 0;
    for (uint32_t points = next_random(&random) % 40; points > 0; points--) {
      uint32_t limit = (const uint32_t[]){0x80, 0x600, 0xd800, 0x20000}[next_random(&random) % 4];
      utf8proc_int32_t point = (utf8proc_int32_t)(next_random(&random) % limit);
      length += (size_t)utf8proc_encode_char(point, (utf8proc_uint8_t *)text + length);
    }
    assert_folds_as_defined(text, length);
  }
}

static void test_copy_ends_with_nul(void **state) {
  (void)state;
  char *folded = corpus_fold_copy("HAMLETMACBETH", 6, NULL);
  assert_string_equal(folded, "hamlet");
  free(folded);
}

static void test_is_utf8(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t length;
    bool valid;
  } cases[] = {
      {"", 0, true},
      {"plain ASCII, longer than a word", 31, true},
      {"a\0b", 3, true},
      {"plain \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 mixed", 21, true},
      {"\xed\x9f\xbf\xee\x80\x80", 6, true}, /* around the surrogates */
      {"\xef\xbf\xbe\xef\xbf\xbf", 6, true}, /* noncharacters */
      {"\xf4\x8f\xbf\xbf", 4, true},         /* U+10FFFF */
      {"\x80", 1, false},
      {"12345678\xff", 9, false},
      {"1234567\xc3", 8, false},
      {"\xc3", 1, false},
      {"\xe2\x82", 2, false},
      {"\xf0\x9f\x98", 3, false},
      {"\xc3(", 2, false},
      {"\xc0\x80", 2, false},         /* overlong */
      {"\xc1\xbf", 2, false},         /* overlong */
      {"\xe0\x9f\xbf", 3, false},     /* overlong */
      {"\xf0\x8f\xbf\xbf", 4, false}, /* overlong */
      {"\xed\xa0\x80", 3, false},     /* the first surrogate */
      {"\xed\xbf\xbf", 3, false},     /* the last surrogate */
      {"\xf4\x90\x80\x80", 4, false}, /* U+110000 */
      {"\xf5\x80\x80\x80", 4, false},
      {"\xf8\x88\x80\x80\x80", 5, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (corpus_is_utf8(cases[i].text, cases[i].length) != cases[i].valid)
      fail_msg("case %zu, \"%s\", is %s", i, cases[i].text, cases[i].valid ? "valid" : "invalid");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chosen_texts),       cmocka_unit_test(test_invalid_bytes_stay),
      cmocka_unit_test(test_every_code_point),   cmocka_unit_test(test_worst_case_meets_the_bound),
      cmocka_unit_test(test_random_bytes),       cmocka_unit_test(test_random_code_points),
      cmocka_unit_test(test_copy_ends_with_nul), cmocka_unit_test(test_is_utf8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
