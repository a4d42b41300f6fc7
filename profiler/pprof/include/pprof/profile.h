#ifndef PPROF_PROFILE_H
#define PPROF_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/types.h"

/*
 * A profile in memory, to be read only. Everything that it points to lives as long
 * as it does. Mappings, functions and locations are referred to by their index in
 * the profile's arrays, and every index is in range; every string is UTF-8 and
 * none is NULL unless said so.
 */

/* In pprof_location.mapping: the address is in no known mapping. */
#define PPROF_NO_MAPPING UINT32_MAX

struct pprof_function {
  const char *name;
  const char *system_name; /* as the linker knows it */
  const char *file;
  int64_t start_line;
};

struct pprof_frame {
  uint32_t function;
  int64_t line;
};

struct pprof_location {
  uint32_t mapping;
  uint64_t address;
  const struct pprof_frame *frames; /* innermost inlined function first; none without symbols */
  size_t frame_count;
  bool is_folded;
};

struct pprof_sample {
  const uint32_t *locations; /* leaf first */
  size_t location_count;
  const int64_t *values; /* as many as there are sample types */
  const struct pprof_label *labels;
  size_t label_count;
};

/* What the bytes were like where the arrays above do not show it; for pprof_check(). */
struct pprof_provenance {
  size_t message_bytes; /* uncompressed */
  uint64_t max_mapping_id, max_location_id, max_function_id;
  size_t bad_strings; /* strings that were not UTF-8 or held a NUL: they were repaired */
  size_t first_bad_string;
};

struct pprof_profile {
  struct pprof_header header;
  const char *drop_frames; /* regular expressions, or "" */
  const char *keep_frames;
  const char *const *comments;
  size_t comment_count;
  const struct pprof_mapping *mappings;
  size_t mapping_count;
  const struct pprof_function *functions;
  size_t function_count;
  const struct pprof_location *locations;
  size_t location_count;
  const struct pprof_sample *samples;
  size_t sample_count;
  struct pprof_provenance provenance;
};

#endif
