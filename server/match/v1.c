#include "versions.h"

#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/fold.h"
#include "outcome.h"

/* The phrase as an extended regular expression that means nothing else. Owned. */
static char *pattern_create(const char *phrase) {
  char *pattern = malloc(2 * strlen(phrase) + 1);
  if (pattern == NULL)
    return NULL;
  char *end = pattern;
  for (const char *at = phrase; *at != '\0'; at++) {
    if (strchr("\\.[(){*+?|^$", *at) != NULL)
      *end++ = '\\';
    *end++ = *at;
  }
  *end = '\0';
  return pattern;
}

/* Compiles the pattern anew for every line: the cost that this version is about. */
static enum match_outcome search_line(const char *line, const char *pattern, bool *out_found) {
  char *lowered = corpus_fold_copy(line, strlen(line), NULL);
  if (lowered == NULL)
    return MATCH_OUT_OF_MEMORY;
  regex_t regex;
  int status = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
  if (status == 0) {
    status = regexec(&regex, lowered, 0, NULL, 0);
    regfree(&regex);
  }
  free(lowered);
  /* A quoted phrase is a valid pattern: what else can fail is memory. */
  if (status != 0 && status != REG_NOMATCH)
    return MATCH_OUT_OF_MEMORY;
  *out_found = status == 0;
  return MATCH_OK;
}

static enum match_outcome count_lines(const struct match_lines *lines, const char *pattern,
                                      const atomic_bool *stop, int64_t *out_count,
                                      struct match_error *error) {
  int64_t count = 0;
  for (size_t i = 0; i < lines->count; i++) {
    if (match_stopped(stop))
      return MATCH_STOPPED;
    bool found;
    if (search_line(lines->items[i], pattern, &found) != MATCH_OK)
      return match_out_of_memory(error, "matching a line");
    count += found;
  }
  *out_count = count;
  return MATCH_OK;
}

enum match_outcome match_v1_count(const void *state, const struct match_query *query,
                                  int64_t *out_count, struct match_error *error) {
  const struct match_reading *reading = state;
  struct match_lines lines = {0};
  enum match_outcome outcome;
  char *phrase = corpus_fold_copy(query->phrase, query->length, NULL);
  char *pattern = phrase == NULL ? NULL : pattern_create(phrase);
  if (pattern == NULL) {
    outcome = match_out_of_memory(error, "quoting the query");
    goto out;
  }
  outcome = match_read_works(reading->corpus, query->stop, &lines, error);
  if (outcome == MATCH_OK)
    outcome = count_lines(&lines, pattern, query->stop, out_count, error);
out:
  match_free_lines(&lines);
  free(pattern);
  free(phrase);
  return outcome;
}
