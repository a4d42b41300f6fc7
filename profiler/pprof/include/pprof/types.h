#ifndef PPROF_TYPES_H
#define PPROF_TYPES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The parts of a profile that are the same whether it is being built or was read.
 * Strings are UTF-8.
 * Source: https://github.com/google/pprof/blob/main/proto/profile.proto
 */

struct pprof_value_type {
  const char *type; /* "cpu" */
  const char *unit; /* "nanoseconds" */
};

struct pprof_header {
  const struct pprof_value_type *sample_types; /* at least one */
  size_t sample_type_count;
  struct pprof_value_type period_type;
  int64_t period;
  int64_t time_ns; /* since 1970 */
  int64_t duration_ns;
  const char *default_sample_type; /* NULL: none */
  const char *doc_url;             /* NULL: none */
};

/* An object file in memory; has_* tell what the profile's symbols for it hold. */
struct pprof_mapping {
  uint64_t start, limit, file_offset;
  const char *path;
  const char *build_id;
  int has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct pprof_label {
  const char *key;
  const char *text; /* a string label, or NULL: a numeric one */
  int64_t number;
  const char *unit; /* of a number; NULL: none */
};

#endif
