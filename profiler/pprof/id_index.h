#ifndef PPROF_ID_INDEX_H
#define PPROF_ID_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "pprof/error.h"

/* From the identifiers of one kind of thing in a file to their places there. */
struct id_index {
  const uint64_t *ids; /* ascending; NULL when the n-th has the identifier n, as is usual */
  const uint32_t *places;
  size_t count;
};

/*
 * Takes the identifiers in the order of the file, and sorts them. `what` names the
 * thing for messages. Returns 0, or -1 when one is 0 or twice there, or when memory ran
 * out.
 */
int id_index_create(uint64_t *ids, size_t count, const char *what, struct pprof_arena *arena,
                    struct id_index *out, struct pprof_error *error);

/* False when there is no such identifier. */
bool id_index_find(const struct id_index *index, uint64_t id, uint32_t *out_place);

#endif
