#ifndef TESTS_MATCH_TEXT_H
#define TESTS_MATCH_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "corpus/corpus.h"
#include "match/match.h"

/* A corpus of a test's own: works in a temporary folder. */
struct text {
  char folder[64];
  struct corpus *corpus;
};

/* Makes the folder, still empty; then text_write() the works and text_open(). */
void text_create(struct text *text);

/* Writes or replaces one work. */
void text_write(const struct text *text, const char *name, const char *bytes, size_t length);

/* Makes a folder, or a FIFO, where a work is expected. */
void text_make_folder(const struct text *text, const char *name);
void text_make_pipe(const struct text *text, const char *name);

/* Opens the folder as a corpus. */
void text_open(struct text *text);

/* All three in one: a single work of NUL-terminated bytes. */
void text_of(struct text *text, const char *bytes);

/* Removes one work, or a folder in its place. */
void text_remove(const struct text *text, const char *name);

/* Closes the corpus and removes the folder and what it holds. */
void text_destroy(struct text *text);

/* Prepares the version, counts once, which must succeed, and releases it. */
int64_t text_count(const struct text *text, const struct match_version *version,
                   const char *phrase);

/* Fails the test unless every version counts so many lines. */
void assert_every_version_counts(const struct text *text, const char *phrase, int64_t expected);

#endif
