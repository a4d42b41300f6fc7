#ifndef MATCH_MATCH_H
#define MATCH_MATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus/corpus.h"

/*
 * The versions of the counting code. Each is one file and one row of the
 * table in versions.c; all give the same answer to every phrase.
 */

enum match_outcome {
  MATCH_OK = 0,
  MATCH_STOPPED,       /* `stop` became true before the count was complete */
  MATCH_UNREADABLE,    /* a work could not be read: the error names it */
  MATCH_OUT_OF_MEMORY, /* the error says what for */
};

/* One line without a newline. */
struct match_error {
  char message[1024];
};

/* One question; everything is borrowed for the call. */
struct match_query {
  const char *phrase;      /* a literal phrase: UTF-8, not empty, NUL-terminated, no NUL inside */
  size_t length;           /* its bytes */
  const atomic_bool *stop; /* polled once a line; NULL is never */
};

struct match_version {
  int number;         /* the -version flag's value */
  const char *name;   /* a few words, for tables and logs */
  const char *lesson; /* what a reader learns from it, one sentence */

  /* Makes the version's state from the corpus, which outlives it. 0, or an outcome with *error. */
  enum match_outcome (*prepare)(const struct corpus *corpus, void **out_state,
                                struct match_error *error);

  /*
   * Counts the lines that contain the phrase, ignoring case, a line once.
   * Writes *out_count on MATCH_OK and *error on the others but MATCH_STOPPED.
   * Any number of threads at once.
   */
  enum match_outcome (*count)(const void *state, const struct match_query *query,
                              int64_t *out_count, struct match_error *error);

  /* Frees the state. Takes NULL. */
  void (*release)(void *state);

  bool on_queue_thread; /* a count takes microseconds and never blocks */
};

/* The row with that number, or NULL. Static storage. */
const struct match_version *match_version_find(int number);

/* The rows in the order of their numbers. */
size_t match_version_count(void);
const struct match_version *match_version_at(size_t index);

/* Formats the message, cut to fit. A NULL error is ignored. */
__attribute__((format(printf, 2, 3))) void match_error_set(struct match_error *error,
                                                           const char *format, ...);

#endif
