#ifndef MATCH_OUTCOME_H
#define MATCH_OUTCOME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "match/match.h"

/* How a count ends before its end. */

/*
 * Whether it should stop; NULL is never. Relaxed: the flag alone is the message,
 * no other memory is read because of it.
 */
static inline bool match_stopped(const atomic_bool *stop) {
  return stop != NULL && atomic_load_explicit(stop, memory_order_relaxed);
}

/* Fills *error, `doing` such as "reading hamlet.txt", and returns MATCH_OUT_OF_MEMORY. */
static inline enum match_outcome match_out_of_memory(struct match_error *error, const char *doing) {
  match_error_set(error, "out of memory while %s; give the server more memory or fewer workers",
                  doing);
  return MATCH_OUT_OF_MEMORY;
}

#endif
