#include "stand_in_text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_in_plan.h"

enum {
  CAST_SIZE = 16,
  LINE_ROOM = 256,
  LINE_MIN = 8,
  LINE_MAX = 80
};

/* The phrases whose count is known, and the lines of the whole text that contain each. */
static const struct {
  const char *text;
  uint64_t lines;
} known_phrases[] = {
    {"hello", 349},
    {"world", 728},
    {"to be, or not to be", 1},
    {"insolence", 14},
};
enum {
  KNOWN_PHRASES = sizeof known_phrases / sizeof known_phrases[0]
};

/* The share of a known phrase that falls to one work. */
struct quota {
  uint64_t lines;
  uint64_t placed;
};

struct page {
  const struct vocabulary *vocabulary;
  struct prng prng;
  const char *cast[CAST_SIZE];
  unsigned headings; /* scenes or sonnets so far */
  struct quota quotas[KNOWN_PHRASES];
  uint64_t text_lines; /* of the work */
  uint64_t text_done;
  uint64_t bytes; /* of the work without line ends */
  uint64_t bytes_done;
};

struct line {
  char text[LINE_ROOM];
  size_t length;
};

static void append(struct line *line, const char *text) {
  size_t length = strlen(text);
  assert(line->length + length < LINE_ROOM);
  memcpy(line->text + line->length, text, length);
  line->length += length;
}

/* Not toupper(), which depends on the locale. */
static char upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? (char)(letter - ('a' - 'A')) : letter;
}

static void append_upper(struct line *line, const char *text) {
  size_t begin = line->length;
  append(line, text);
  for (size_t i = begin; i < line->length; i++)
    line->text[i] = upper(line->text[i]);
}

static void append_capitalized(struct line *line, const char *text) {
  size_t begin = line->length;
  append(line, text);
  line->text[begin] = upper(line->text[begin]);
}

/* With a capital where it begins a line. */
static void append_word(struct line *line, const char *word, bool at_front) {
  if (at_front)
    append_capitalized(line, word);
  else
    append(line, word);
}

static void append_roman(struct line *line, unsigned number) {
  static const struct {
    unsigned value;
    const char *digits;
  } numerals[] = {{100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"},
                  {9, "IX"},  {5, "V"},   {4, "IV"}, {1, "I"}};
  for (size_t i = 0; i < sizeof numerals / sizeof numerals[0]; i++) {
    for (; number >= numerals[i].value; number -= numerals[i].value)
      append(line, numerals[i].digits);
  }
}

/* The first of the cast speak most. */
static const char *draw_speaker(struct page *page) {
  return page->cast[prng_below(&page->prng, prng_below(&page->prng, CAST_SIZE) + 1)];
}

static void append_heading(struct page *page, struct line *line, enum line_kind kind) {
  switch (kind) {
  case LINE_TITLE:
    append(line, "\t");
    append_upper(line, page->cast[0]);
    append(line, " AND ");
    append_upper(line, page->cast[1]);
    break;
  case LINE_SCENE:
    append(line, "SCENE ");
    append_roman(line, ++page->headings);
    append(line, "\tBefore the ");
    append(line, vocabulary_draw_name(page->vocabulary, &page->prng));
    append(line, ".");
    break;
  case LINE_DIRECTION:
    append(line, prng_below(&page->prng, 2) ? "\t[Enter " : "\t[Exit ");
    append_upper(line, draw_speaker(page));
    append(line, "]");
    break;
  default:
    append_roman(line, ++page->headings);
    append(line, ".");
  }
}

static void append_indent(struct page *page, struct line *line, enum line_kind kind) {
  if (kind == LINE_SPEAKER)
    append_upper(line, draw_speaker(page));
  if (kind == LINE_SPEAKER || kind == LINE_SPEECH)
    append(line, "\t");
  else if (kind == LINE_COUPLET)
    append(line, "  ");
}

/* The known phrase that is due on the current line, or NULL: a quota is spread evenly. */
static const char *take_due_phrase(struct page *page) {
  for (size_t i = 0; i < KNOWN_PHRASES; i++) {
    struct quota *quota = &page->quotas[i];
    if (quota->placed < quota->lines &&
        page->text_done * 2 * quota->lines >= page->text_lines * (2 * quota->placed + 1)) {
      quota->placed++;
      return known_phrases[i].text;
    }
  }
  return NULL;
}

static void append_mark(struct page *page, struct line *line, bool at_end) {
  static const char *const end_marks[] = {",", ",", ",", ".", ".", ";", ":", "?", "!", "", "", ""};
  static const char *const inner_marks[] = {",", ",", ";", "'s"};
  if (at_end)
    append(line, end_marks[prng_below(&page->prng, sizeof end_marks / sizeof end_marks[0])]);
  else if (prng_below(&page->prng, 12) == 0)
    append(line, inner_marks[prng_below(&page->prng, sizeof inner_marks / sizeof inner_marks[0])]);
}

/* Appends words until the line has about `target` bytes, and the known phrase that is due. */
static void append_words(struct page *page, struct line *line, size_t target) {
  const char *phrase = take_due_phrase(page);
  uint32_t words_before_phrase = prng_below(&page->prng, 4);
  for (uint32_t words = 0; line->length + 3 < target || phrase; words++) {
    if (words > 0) {
      append_mark(page, line, false);
      append(line, " ");
    }
    if (phrase && words == words_before_phrase) {
      append_word(line, phrase, words == 0);
      phrase = NULL;
    } else if (prng_below(&page->prng, 24) == 0) {
      append_capitalized(line, draw_speaker(page));
    } else {
      append_word(line, vocabulary_draw(page->vocabulary, &page->prng), words == 0);
    }
  }
  append_mark(page, line, true);
}

/*
 * The length of the next line of text: the mean, varied, and drawn back to where
 * the mean would have led to; at the close an equal share of what is left.
 */
static size_t target_bytes(struct page *page) {
  uint64_t lines_left = page->text_lines - page->text_done;
  if (lines_left <= PLAN_CLOSING_LINES)
    return (page->bytes - page->bytes_done) / lines_left;
  int64_t mean = (int64_t)(page->bytes / page->text_lines);
  int64_t course = (int64_t)(page->bytes * page->text_done / page->text_lines);
  int64_t target = mean + (course - (int64_t)page->bytes_done) / 4;
  target += (int64_t)prng_below(&page->prng, 13);
  target -= (int64_t)prng_below(&page->prng, 13);
  if (target < LINE_MIN)
    return LINE_MIN;
  return target > LINE_MAX ? LINE_MAX : (size_t)target;
}

/* Cuts the last line, so that the work has its bytes. */
static void cut_to_fit(struct line *line, size_t length) {
  assert(length > 0 && length <= line->length);
  line->length = length;
  line->text[length - 1] = '.';
}

static void write_line(struct page *page, enum line_kind kind, struct line *line) {
  line->length = 0;
  if (kind == LINE_BLANK)
    return;
  if (!line_kind_is_text(kind)) {
    append_heading(page, line, kind);
  } else {
    append_indent(page, line, kind);
    bool last = page->text_done + 1 == page->text_lines;
    size_t left = (size_t)(page->bytes - page->bytes_done);
    append_words(page, line, last ? left + 4 : target_bytes(page));
    if (last)
      cut_to_fit(line, left);
    page->text_done++;
  }
  page->bytes_done += line->length;
}

/* Shares the known phrases out among the works by their lines. */
static void fill_quotas(struct page *page, const struct work *work) {
  uint64_t before = 0;
  for (const struct work *earlier = works; earlier < work; earlier++)
    before += earlier->lines;
  uint64_t after = before + work->lines;
  uint64_t all = after;
  for (const struct work *later = work + 1; later < works + works_count; later++)
    all += later->lines;
  for (size_t i = 0; i < KNOWN_PHRASES; i++) {
    uint64_t count = known_phrases[i].lines;
    page->quotas[i].lines = count * after / all - count * before / all;
  }
}

static void page_init(struct page *page, const struct work *work,
                      const struct vocabulary *vocabulary) {
  *page = (struct page){
      .vocabulary = vocabulary,
      .prng = {(uint64_t)(work - works)},
      .bytes = work->bytes - work->lines,
  };
  for (size_t i = 0; i < CAST_SIZE; i++)
    page->cast[i] = vocabulary_draw_name(vocabulary, &page->prng);
  fill_quotas(page, work);
}

int stand_in_text_write(const struct work *work, const struct vocabulary *vocabulary, char *out) {
  struct plan plan = {.lines = work->lines};
  plan.kinds = calloc(plan.lines, sizeof *plan.kinds);
  if (!plan.kinds)
    return -1;
  struct page page;
  page_init(&page, work, vocabulary);
  bool is_poem = work->bytes / work->lines >= 35; /* its stanzas have few blank lines */
  if (is_poem)
    plan_poem(&plan);
  else
    plan_play(&plan, &page.prng);
  for (size_t i = 0; i < plan.lines; i++)
    page.text_lines += line_kind_is_text(plan.kinds[i]);

  for (size_t i = 0; i < plan.lines; i++) {
    struct line line;
    write_line(&page, plan.kinds[i], &line);
    memcpy(out, line.text, line.length);
    out += line.length;
    *out++ = '\n';
  }
  free(plan.kinds);
  return 0;
}
