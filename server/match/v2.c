#include "versions.h"

#include <stdlib.h>
#include <string.h>

#include "corpus/fold.h"
#include "outcome.h"

enum match_outcome match_v2_count_lines(const struct match_lines *lines, const char *phrase,
                                        const atomic_bool *stop, int64_t *out_count,
                                        struct match_error *error) {
  int64_t count = 0;
  for (size_t i = 0; i < lines->count; i++) {
    if (match_stopped(stop))
      return MATCH_STOPPED;
    char *lowered = corpus_fold_copy(lines->items[i], strlen(lines->items[i]), NULL);
    if (lowered == NULL)
      return match_out_of_memory(error, "lower-casing a line");
    count += strstr(lowered, phrase) != NULL;
    free(lowered);
  }
  *out_count = count;
  return MATCH_OK;
}

enum match_outcome match_v2_count(const void *state, const struct match_query *query,
                                  int64_t *out_count, struct match_error *error) {
  const struct match_reading *reading = state;
  char *phrase = corpus_fold_copy(query->phrase, query->length, NULL);
  if (phrase == NULL)
    return match_out_of_memory(error, "lower-casing the query");
  struct match_lines lines = {0};
  enum match_outcome outcome = match_read_works(reading->corpus, query->stop, &lines, error);
  if (outcome == MATCH_OK)
    outcome = match_v2_count_lines(&lines, phrase, query->stop, out_count, error);
  match_free_lines(&lines);
  free(phrase);
  return outcome;
}
