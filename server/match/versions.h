#ifndef MATCH_VERSIONS_H
#define MATCH_VERSIONS_H

#include "match/match.h"
#include "reading.h"

/*
 * What the files v1.c, v2.c, ... give to the table in versions.c; the contracts
 * are those of struct match_version. Versions 1 to 3 keep nothing but where the
 * text is: their rows take prepare and release from reading.h.
 */

enum match_outcome match_v1_count(const void *state, const struct match_query *query,
                                  int64_t *out_count, struct match_error *error);

enum match_outcome match_v2_count(const void *state, const struct match_query *query,
                                  int64_t *out_count, struct match_error *error);

/* Version 2's matching, which version 4 keeps: the lines whose lower-cased copy holds `phrase`. */
enum match_outcome match_v2_count_lines(const struct match_lines *lines, const char *phrase,
                                        const atomic_bool *stop, int64_t *out_count,
                                        struct match_error *error);

enum match_outcome match_v4_prepare(const struct corpus *corpus, void **out_state,
                                    struct match_error *error);
enum match_outcome match_v4_count(const void *state, const struct match_query *query,
                                  int64_t *out_count, struct match_error *error);
void match_v4_release(void *state);

#endif
