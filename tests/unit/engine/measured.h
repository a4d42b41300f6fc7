#ifndef TESTS_ENGINE_MEASURED_H
#define TESTS_ENGINE_MEASURED_H

#include <stdint.h>

#include "folio/folio.h"
#include "pprof/profile.h"

/* Ends a session and reads its profile, which must be a good one. Owned: pprof_profile_free(). */
struct pprof_profile *measured_stop(struct folio_session *session);

/* The same of a snapshot. */
struct pprof_profile *measured_snapshot(enum folio_type type);

/* Starts a session or fails the test. */
struct folio_session *measured_start(enum folio_type type, int64_t duration_ns);

/* The sum of the value `name` (a sample type) over all samples. */
int64_t measured_total(const struct pprof_profile *profile, const char *name);

/* ... over the samples that have the function anywhere on their stack. */
int64_t measured_under(const struct pprof_profile *profile, const char *name, const char *function);

/* ... over the samples with a label. */
int64_t measured_labelled(const struct pprof_profile *profile, const char *name, const char *key,
                          const char *text);

#endif
