#include "versions.h"

#include <stdlib.h>

#include "corpus/fold.h"
#include "outcome.h"

/* The state: the lines of all works, read once. */

enum match_outcome match_v4_prepare(const struct corpus *corpus, void **out_state,
                                    struct match_error *error) {
  struct match_lines *lines = malloc(sizeof *lines);
  if (lines == NULL)
    return match_out_of_memory(error, "preparing the version");
  enum match_outcome outcome = match_read_works(corpus, NULL, lines, error);
  if (outcome != MATCH_OK) {
    free(lines);
    return outcome;
  }
  *out_state = lines;
  return MATCH_OK;
}

enum match_outcome match_v4_count(const void *state, const struct match_query *query,
                                  int64_t *out_count, struct match_error *error) {
  char *phrase = corpus_fold_copy(query->phrase, query->length, NULL);
  if (phrase == NULL)
    return match_out_of_memory(error, "lower-casing the query");
  enum match_outcome outcome = match_v2_count_lines(state, phrase, query->stop, out_count, error);
  free(phrase);
  return outcome;
}

void match_v4_release(void *state) {
  if (state == NULL)
    return;
  match_free_lines(state);
  free(state);
}
