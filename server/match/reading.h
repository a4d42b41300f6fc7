#ifndef MATCH_READING_H
#define MATCH_READING_H

#include <stdatomic.h>
#include <stddef.h>

#include "match/match.h"

/*
 * The careless reading that the first versions do at every request: each file
 * into a growing buffer, then each line into a string of its own.
 */

/* The lines of all works in their order, each NUL-terminated and without its LF. Zero is empty. */
struct match_lines {
  char **items;
  size_t count;
  size_t capacity;
};

/*
 * Reads all works as they are now. On MATCH_OK *out is owned: match_free_lines().
 * `stop` is polled between the pieces that are read and between lines; NULL is never.
 */
enum match_outcome match_read_works(const struct corpus *corpus, const atomic_bool *stop,
                                    struct match_lines *out, struct match_error *error);

/* Frees every line and leaves it empty. */
void match_free_lines(struct match_lines *lines);

/* The state of a version that reads at every request: it knows where the text is. */
struct match_reading {
  const struct corpus *corpus;
};

/* Rows of such versions take these two for prepare and release; the state is a match_reading. */
enum match_outcome match_reading_prepare(const struct corpus *corpus, void **out_state,
                                         struct match_error *error);
void match_reading_release(void *state);

#endif
