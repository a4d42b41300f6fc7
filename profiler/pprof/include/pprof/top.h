#ifndef PPROF_TOP_H
#define PPROF_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "pprof/error.h"
#include "pprof/profile.h"

/*
 * How much of one sample type each function has itself (flat: it is the
 * innermost) and in total (cum: it is anywhere on the stack, counted once a sample
 * however often it stands there). Inlined functions count as functions. Functions
 * are told apart by their name, as `go tool pprof -top` does; a location without symbols
 * goes by its mapping, "[libc.so.6]". Several profiles add up. drop_frames and
 * keep_frames are not applied.
 */
struct pprof_top;

struct pprof_top_row {
  const char *name; /* borrowed from the table */
  const char *file; /* of the first function seen with the name; "" when unknown */
  int64_t flat;
  int64_t cum;
};

/* Returns an owned table, or NULL when memory ran out. */
struct pprof_top *pprof_top_create(void);

/* Takes NULL. */
void pprof_top_destroy(struct pprof_top *top);

/*
 * The index of the sample type named `name`; NULL is the profile's default one, or
 * else the last. Returns 0, or -1 and a message that lists those that exist.
 */
int pprof_top_choose(const struct pprof_profile *profile, const char *name, size_t *out_index,
                     struct pprof_error *error);

/*
 * Adds the profile's values of the sample type at `index`. The profile may be freed
 * afterwards. Returns 0, or -1 when memory ran out: then only destroy the table.
 */
int pprof_top_add(struct pprof_top *top, const struct pprof_profile *profile, size_t index);

enum pprof_top_order {
  PPROF_TOP_BY_FLAT, /* then by cum, then by name */
  PPROF_TOP_BY_CUM,  /* then by flat, then by name */
};

/*
 * The rows in order, the largest first; borrowed until the next call that takes the
 * table. A function of no sample with a value is no row. Returns 0, or -1 when memory ran
 * out.
 */
int pprof_top_rows(struct pprof_top *top, enum pprof_top_order order,
                   const struct pprof_top_row **out, size_t *out_count);

/* The sum of all samples' values. This sum and those of the rows saturate. */
int64_t pprof_top_total(const struct pprof_top *top);

#endif
