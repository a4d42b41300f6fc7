#ifndef PPROF_BUILDER_H
#define PPROF_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "pprof/types.h"

/*
 * Builds a profile in pprof's profile.proto. Strings are copied and stored once; equal
 * mappings, functions and locations are stored once; identifiers count from 1 without
 * gaps. What would make a reader refuse the profile is repaired: bytes that are not
 * UTF-8 become U+FFFD, a '-' in the name of a sample type becomes '_'. NULL for a
 * string is "".
 * A failed allocation is remembered: pprof_builder_finish() then reports it.
 * The same calls give the same bytes. One thread at a time uses a builder.
 */
struct pprof_builder;

struct pprof_line {
  const char *name;
  const char *system_name;
  const char *file;
  int64_t line;
  int64_t start_line;
};

/* Returns an owned builder, or NULL when memory ran out. The header is copied. */
struct pprof_builder *pprof_builder_create(const struct pprof_header *header);

/*
 * The identifier of the mapping that equals this one, which is added when there is
 * none. The first must be the main program. 0 when memory ran out.
 */
uint64_t pprof_builder_mapping(struct pprof_builder *builder, const struct pprof_mapping *mapping);

/*
 * The identifier of the location with these mapping (0: none), address and lines
 * (innermost inlined function first; 0 lines is a bare address). 0 when memory ran out.
 */
uint64_t pprof_builder_location(struct pprof_builder *builder, uint64_t mapping, uint64_t address,
                                const struct pprof_line *lines, size_t line_count);

/*
 * Adds a sample: locations leaf first, one value a sample type. A label whose text
 * is "" is left out: the format cannot tell it from the number 0.
 */
void pprof_builder_sample(struct pprof_builder *builder, const uint64_t *locations,
                          size_t location_count, const int64_t *values,
                          const struct pprof_label *labels, size_t label_count);

/* Adds a comment line. */
void pprof_builder_comment(struct pprof_builder *builder, const char *text);

/*
 * Encodes and gzips the profile and frees the builder. Returns 0 and sets *out to
 * owned bytes (free), or -1 when memory ran out.
 */
int pprof_builder_finish(struct pprof_builder *builder, void **out, size_t *out_size);

/* Frees a builder that is not finished. Takes NULL. */
void pprof_builder_discard(struct pprof_builder *builder);

#endif
