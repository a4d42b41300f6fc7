#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "corpus/fold.h"
#include "text.h"

/* What must be true of every phrase: all versions give the count that a simple search gives. */

enum {
  WORKS = 3,
  LINES = 240, /* of all works */
  MAX_LINE_BYTES = 256,
  PHRASES = 400,
};

struct line {
  char bytes[MAX_LINE_BYTES];
  size_t length;
};

struct fixture {
  struct text text;
  struct line lines[LINES];
  uint64_t random;
};

/* xorshift64: the same text and phrases in every run. */
static size_t draw(struct fixture *fixture, size_t below) {
  fixture->random ^= fixture->random << 13;
  fixture->random ^= fixture->random >> 7;
  fixture->random ^= fixture->random << 17;
  return (size_t)(fixture->random % below);
}

static void line_append(struct line *line, const char *word) {
  size_t length = strlen(word);
  assert_in_range(line->length + length, 0, MAX_LINE_BYTES - 1);
  memcpy(line->bytes + line->length, word, length + 1);
  line->length += length;
}

static void line_draw(struct fixture *fixture, struct line *line) {
  static const char *const words[] = {
      "the", "The", "THEE", "thou", "a", "hello", "Hello,", "world", "O!", "what?", "(a)",
      "[b]", "x*",  "y+",   "$1.5", "^", "{1}",   "a|b",    "\\n",   "--", "é",     "École",
      "ΣΑΣ", "σας", "Мир",  "мир",  "Ⱥ", "İ",     "\xe9",   "\xc3",  "\r", "\t",
  };
  line->length = 0;
  line->bytes[0] = '\0';
  for (size_t count = draw(fixture, 12); count > 0; count--) {
    line_append(line, words[draw(fixture, sizeof words / sizeof words[0])]);
    line_append(line, draw(fixture, 8) == 0 ? "" : " ");
  }
}

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  fixture->random = 1616;
  text_create(&fixture->text);
  static const char *const names[WORKS] = {"a.txt", "b.txt", "c.txt"};
  for (size_t work = 0; work < WORKS; work++) {
    char bytes[LINES / WORKS * (MAX_LINE_BYTES + 1)];
    size_t length = 0;
    for (size_t i = work * LINES / WORKS; i < (work + 1) * LINES / WORKS; i++) {
      struct line *line = &fixture->lines[i];
      line_draw(fixture, line);
      memcpy(bytes + length, line->bytes, line->length);
      length += line->length;
      bytes[length++] = '\n';
    }
    text_write(&fixture->text, names[work], bytes, length);
  }
  text_open(&fixture->text);
  *state = fixture;
  return 0;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  text_destroy(&fixture->text);
  free(fixture);
  return 0;
}

/* A piece of some line, with the case of some letters changed and at times a byte of its own. */
static void phrase_draw(struct fixture *fixture, char *out) {
  size_t length = 0;
  while (length == 0 || !corpus_is_utf8(out, length)) {
    const struct line *line = &fixture->lines[draw(fixture, LINES)];
    size_t from = draw(fixture, line->length + 1);
    length = draw(fixture, line->length - from + 1);
    memcpy(out, line->bytes + from, length);
  }
  for (size_t i = 0; i < length; i++) {
    if ((out[i] | 0x20) >= 'a' && (out[i] | 0x20) <= 'z' && draw(fixture, 3) == 0)
      out[i] ^= 0x20;
  }
  if (draw(fixture, 8) == 0)
    out[length++] = ".*[]()\\^$+?{}|"[draw(fixture, 14)];
  out[length] = '\0';
}

static int64_t count_simply(const struct fixture *fixture, const char *phrase) {
  size_t phrase_length;
  char *folded_phrase = corpus_fold_copy(phrase, strlen(phrase), &phrase_length);
  int64_t count = 0;
  for (size_t i = 0; i < LINES; i++) {
    char folded[2 * MAX_LINE_BYTES];
    size_t length = corpus_fold(fixture->lines[i].bytes, fixture->lines[i].length, folded);
    count += memmem(folded, length, folded_phrase, phrase_length) != NULL;
  }
  free(folded_phrase);
  return count;
}

static void all_versions_agree(void **state) {
  struct fixture *fixture = *state;
  int found = 0;
  for (int i = 0; i < PHRASES; i++) {
    char phrase[MAX_LINE_BYTES + 1];
    phrase_draw(fixture, phrase);
    int64_t count = count_simply(fixture, phrase);
    assert_every_version_counts(&fixture->text, phrase, count);
    found += count > 0;
  }
  assert_in_range(found, PHRASES / 2, PHRASES); /* else the phrases test too little */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(all_versions_agree, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
