#ifndef ENGINE_EXPORT_H
#define ENGINE_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "folio/folio.h"

/* What a profile is made of. */
struct export {
  enum folio_type type;
  struct aggregate *samples;
  const struct module *main_program;
  uint32_t module_count; /* numbers below are in use by `samples` */
  int64_t time_ns;
  int64_t duration_ns;
  int64_t period; /* nanoseconds of CPU time, or bytes */
  const char *const *comments;
  size_t comment_count;
};

/*
 * Names the frames and encodes the profile as gzipped pprof. Returns 0 and owned bytes, or
 * -1 when memory ran out. Any thread; one at a time works, the others wait.
 */
int export_profile(const struct export *export, void **out, size_t *out_size);

/* Bytes held by the cache of names. */
size_t export_memory_bytes(void);

#endif
