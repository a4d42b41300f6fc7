#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

enum {
  MAX_PHRASE_BYTES = 1024
};

static void rows_are_found_by_their_numbers(void **state) {
  (void)state;
  assert_in_range(match_version_count(), 4, 100);
  for (size_t i = 0; i < match_version_count(); i++) {
    const struct match_version *version = match_version_at(i);
    assert_int_equal(version->number, i + 1);
    assert_ptr_equal(match_version_find(version->number), version);
    assert_non_null(version->prepare);
    assert_non_null(version->count);
    assert_non_null(version->release);
    assert_in_range(strlen(version->name), 1, 60);
    assert_in_range(strlen(version->lesson), 1, 120);
    version->release(NULL);
  }
  assert_null(match_version_find(0));
  assert_null(match_version_find(-1));
  assert_null(match_version_find((int)match_version_count() + 1));
  assert_null(match_version_at(match_version_count()));
}

static void lines_are_counted_once(void **state) {
  (void)state;
  struct text text;
  text_of(&text, "hello hello\naaa\nHello, hELLo\nhell\no\n");
  assert_every_version_counts(&text, "hello", 2);
  assert_every_version_counts(&text, "HELLO", 2);
  assert_every_version_counts(&text, "aa", 1);
  assert_every_version_counts(&text, "hello, hello", 1);
  assert_every_version_counts(&text, "o", 3);
  assert_every_version_counts(&text, "absent", 0);
  text_destroy(&text);
}

static void a_line_ends_with_its_newline_or_its_file(void **state) {
  (void)state;
  struct text text;
  text_create(&text);
  text_write(&text, "a.txt", "\n\nfirst\n\nlast of a", 18);
  text_write(&text, "b.txt", "first of b\n", 11);
  text_write(&text, "c.txt", "\n", 1);
  text_open(&text);
  assert_every_version_counts(&text, "first", 2);
  assert_every_version_counts(&text, "last of a", 1);
  assert_every_version_counts(&text, "last of afirst", 0);
  assert_every_version_counts(&text, " ", 2);
  text_destroy(&text);
}

static void a_phrase_with_a_newline_matches_nothing(void **state) {
  (void)state;
  struct text text;
  text_of(&text, "one\ntwo\n\nthree");
  assert_every_version_counts(&text, "one\ntwo", 0);
  assert_every_version_counts(&text, "\n", 0);
  assert_every_version_counts(&text, "two\n", 0);
  assert_every_version_counts(&text, "\nthree", 0);
  text_destroy(&text);
}

static void a_carriage_return_belongs_to_its_line(void **state) {
  (void)state;
  struct text text;
  text_of(&text, "one\r\ntwo\r\nmid\rdle\r\n\r\n");
  assert_every_version_counts(&text, "\r", 4);
  assert_every_version_counts(&text, "one\r", 1);
  assert_every_version_counts(&text, "mid\rdle", 1);
  assert_every_version_counts(&text, "one\r\n", 0);
  text_destroy(&text);
}

/* Every ASCII character, alone and between letters, beside lines that it would match as an
 * operator. */
static void every_character_means_itself(void **state) {
  (void)state;
  static const char decoys[] = "ab\naab\nabb\naxb\na\nb\nbb\na1b\na bb\na{1}b\na[x]b\na\\wb\n";
  for (int character = 1; character < 0x80; character++) {
    if (character == '\n' || (character >= 'A' && character <= 'Z') ||
        strchr("abwx1 {}[]\\", character))
      continue;
    char phrase[] = {'a', (char)character, 'b', '\0'};
    char bytes[sizeof decoys + 8];
    snprintf(bytes, sizeof bytes, "%s%s\n", decoys, phrase);
    struct text text;
    text_of(&text, bytes);
    assert_every_version_counts(&text, phrase, 1);
    assert_every_version_counts(&text, phrase + 1, 1);
    text_destroy(&text);
  }
}

static void expressions_are_literal_phrases(void **state) {
  (void)state;
  static const char *const phrases[] = {
      "[",     "]",     "[a",      "a]",  "[^a]",  "[[:alpha:]]", "[a-z]*", "{",   "}",
      "a{1}",  "{1,2}", "a{,",     "\\",  "\\\\",  "\\w",         "\\<the", "\\1", "\\b",
      "(a)",   "(",     ")",       "()",  "(a|b)", "|",           "||",     "a|",  "*",
      "**",    "a*",    "+",       "a+",  "?",     "a?",          "^",      "^a",  "a^b",
      "$",     "a$",    "$a",      "^$",  ".",     "..",          ".*",     "\\.", "[\n]",
      "(?i)a", "\\n",   "\\Q.\\E", "a\\", "{}",    "*a",          "(*)",    "[.]", "[]",
  };
  char bytes[1024] = "abcdefgh\nAAAA\nthe end\n1 2 3\n";
  for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
    struct text text;
    char with_phrase[sizeof bytes + 32];
    snprintf(with_phrase, sizeof with_phrase, "%sxx%syy\n", bytes, phrases[i]);
    text_of(&text, with_phrase);
    assert_every_version_counts(&text, phrases[i], strchr(phrases[i], '\n') == NULL ? 1 : 0);
    text_destroy(&text);
    text_of(&text, bytes);
    assert_every_version_counts(&text, phrases[i], 0);
    text_destroy(&text);
  }
}

static void case_is_folded_in_every_script(void **state) {
  (void)state;
  struct text text;
  text_of(&text, "École d'été\nÉCOLE\necole\nΚόσμε, ΚΌΣΜΕ\nПривет, МИР\nпривет\n"
                 "ȺȾ grow when lowered\nstraße\nİstanbul\nσας\nsigma: ς\n");
  assert_every_version_counts(&text, "école", 2);
  assert_every_version_counts(&text, "ÉCOLE", 2);
  assert_every_version_counts(&text, "ÉTÉ", 1);
  assert_every_version_counts(&text, "κόσμε", 1);
  assert_every_version_counts(&text, "ПРИВЕТ", 2);
  assert_every_version_counts(&text, "мир", 1);
  assert_every_version_counts(&text, "ⱥⱦ", 1);
  assert_every_version_counts(&text, "STRASSE", 0);
  assert_every_version_counts(&text, "istanbul", 1);
  assert_every_version_counts(&text, "ΣΑΣ", 0);
  assert_every_version_counts(&text, "ς", 2);
  text_destroy(&text);
}

static void bytes_that_are_not_utf8_stay_as_they_are(void **state) {
  (void)state;
  struct text text;
  text_of(&text, "caf\xe9 NOIR\n\xff\xfe\xc3\n\xc3\xc3\x89tude\n\xe2\x82 \xf0\x9f\x98 Wide\n");
  assert_every_version_counts(&text, "caf", 1);
  assert_every_version_counts(&text, "noir", 1);
  assert_every_version_counts(&text, "étude", 1);
  assert_every_version_counts(&text, "WIDE", 1);
  assert_every_version_counts(&text, "café", 0);
  assert_every_version_counts(&text, "\xef\xbf\xbd", 0);
  text_destroy(&text);
}

/* The longest phrase that the service lets through, whole and with one byte wrong at its end. */
static void assert_longest_phrase(char filler) {
  char line[MAX_PHRASE_BYTES + 8];
  memset(line, filler, sizeof line);
  line[sizeof line - 1] = '\0';
  char phrase[MAX_PHRASE_BYTES + 1];
  memset(phrase, filler, sizeof phrase);
  phrase[MAX_PHRASE_BYTES] = '\0';
  struct text text;
  text_of(&text, line);
  assert_every_version_counts(&text, phrase, 1);
  phrase[MAX_PHRASE_BYTES - 1] = '!';
  assert_every_version_counts(&text, phrase, 0);
  text_destroy(&text);
}

static void a_phrase_may_have_1024_bytes(void **state) {
  (void)state;
  assert_longest_phrase('a');
  assert_longest_phrase('.');
  assert_longest_phrase('(');
  assert_longest_phrase('\\');
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_found_by_their_numbers),
      cmocka_unit_test(lines_are_counted_once),
      cmocka_unit_test(a_line_ends_with_its_newline_or_its_file),
      cmocka_unit_test(a_phrase_with_a_newline_matches_nothing),
      cmocka_unit_test(a_carriage_return_belongs_to_its_line),
      cmocka_unit_test(every_character_means_itself),
      cmocka_unit_test(expressions_are_literal_phrases),
      cmocka_unit_test(case_is_folded_in_every_script),
      cmocka_unit_test(bytes_that_are_not_utf8_stay_as_they_are),
      cmocka_unit_test(a_phrase_may_have_1024_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
