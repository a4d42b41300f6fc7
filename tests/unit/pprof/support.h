#ifndef TEST_PPROF_SUPPORT_H
#define TEST_PPROF_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "pprof/builder.h"
#include "pprof/reader.h"

/* Numbers that are the same in every run (xorshift64); the state is not 0. */
uint64_t random_next(uint64_t *state);
size_t random_below(uint64_t *state, size_t below);

/* A builder with the two sample types of a CPU profile. */
struct pprof_builder *cpu_builder(void);

/* Finishes the builder and reads the result; both must succeed. */
struct pprof_profile *finish_and_read(struct pprof_builder *builder);

/* The location with one line, in no mapping: `function` is its two names, `file` "a.c". */
uint64_t simple_location(struct pprof_builder *builder, uint64_t address, const char *function);

/* Bytes of a protobuf message in the making. */
struct bytes {
  size_t size;
  uint8_t data[8192];
};

void bytes_append(struct bytes *bytes, const void *more, size_t size);
void bytes_number(struct bytes *bytes, uint32_t field, uint64_t value);
void bytes_block(struct bytes *bytes, uint32_t field, const void *block, size_t size);
void bytes_text(struct bytes *bytes, uint32_t field, const char *text);
void bytes_message(struct bytes *bytes, uint32_t field, const struct bytes *message);
void bytes_packed(struct bytes *bytes, uint32_t field, const uint64_t *values, size_t count);

#endif
