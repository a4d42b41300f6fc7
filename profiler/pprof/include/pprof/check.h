#ifndef PPROF_CHECK_H
#define PPROF_CHECK_H

#include <stdbool.h>

#include "pprof/error.h"
#include "pprof/profile.h"

/*
 * Whether the profile, which could be read, is also one that every consumer
 * takes and that makes sense: identifiers from 1 without gaps (Parca), no '-' in
 * a sample type and only UTF-8 (Pyroscope), no negative value, mappings that are no
 * reversed ranges, addresses inside their mapping, a default sample type that
 * exists. Returns false and the first violation. A difference of two profiles has
 * negative values by its nature and does not pass.
 */
bool pprof_check(const struct pprof_profile *profile, struct pprof_error *error);

/*
 * Whether it is under the limits of Pyroscope: 4 MiB uncompressed, 16,000 samples,
 * 100 labels a sample, stacks of 1,000. Returns false and "over a limit of
 * Pyroscope: ...". Such a profile is a good one all the same.
 */
bool pprof_fits_pyroscope(const struct pprof_profile *profile, struct pprof_error *error);

#endif
