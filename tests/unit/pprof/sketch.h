#ifndef TEST_PPROF_SKETCH_H
#define TEST_PPROF_SKETCH_H

#include "support.h"

/*
 * A small profile as numbers, some of which a test changes before it is encoded by
 * hand. sketch_good() is without fault: two mappings, functions and locations, and a
 * sample of both.
 */
struct sketch {
  const char *strings[12]; /* up to the first NULL */
  uint64_t sample_type, sample_type_count;
  uint64_t mapping_ids[2], mapping_start, mapping_limit, mapping_file;
  uint64_t function_ids[2], function_name;
  uint64_t location_ids[2], location_mapping, location_function, location_address;
  uint64_t sample_location;
  uint64_t values[3], value_count;
  uint64_t label_key, label_text;
  uint64_t time_ns, duration_ns, default_sample_type, comment;
};

/* Places in `strings`. */
enum {
  STRING_EMPTY,
  STRING_CPU,
  STRING_NANOSECONDS,
  STRING_MAIN,
  STRING_PROGRAM,
  STRING_QUERY,
  STRING_HELLO,
  STRING_DASHED, /* "alloc-space" */
  STRING_COUNT,
};

struct sketch sketch_good(void);
void sketch_encode(const struct sketch *sketch, struct bytes *out);

#endif
