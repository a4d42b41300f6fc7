#ifndef CLIENT_QUERIES_H
#define CLIENT_QUERIES_H

#include <stddef.h>
#include <stdint.h>

#include "rpc/error.h"

/* The known count is not checked. */
#define QUERY_UNCHECKED (-1)

struct query {
  const char *phrase; /* NUL-terminated */
  int64_t count;      /* the right answer, or QUERY_UNCHECKED */
};

/* The questions that the simulator draws from; at least one. */
struct queries {
  const struct query *items;
  size_t count;
};

/* The four queries whose answers on the real text (and the stand-in) are known. Static storage. */
extern const struct queries queries_known;

/*
 * Reads a file of `phrase TAB count` lines, at most 16 MiB. The last TAB of a
 * line counts, so that a phrase may hold others; a count of `-` is not checked;
 * empty lines and lines that begin with # are passed over; lines may end with
 * CR LF. Returns 0 and sets *out to owned queries, at least one, or -1 and fills
 * *error with the file, the line at fault and what is wrong with it.
 */
int queries_read(const char *path, struct queries **out, struct rpc_error *error);

/* Frees what queries_read() gave. Takes NULL. */
void queries_free(struct queries *queries);

#endif
