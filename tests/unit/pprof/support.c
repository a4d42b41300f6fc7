#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

uint64_t random_next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

size_t random_below(uint64_t *state, size_t below) {
  return (size_t)(random_next(state) % below);
}

struct pprof_builder *cpu_builder(void) {
  static const struct pprof_value_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
  struct pprof_builder *builder = pprof_builder_create(&(struct pprof_header){
      .sample_types = types,
      .sample_type_count = 2,
      .period_type = {"cpu", "nanoseconds"},
      .period = 10000000,
      .time_ns = 1700000000000000000,
      .duration_ns = 10000000000,
  });
  assert_non_null(builder);
  return builder;
}

struct pprof_profile *finish_and_read(struct pprof_builder *builder) {
  void *bytes = NULL;
  size_t size = 0;
  struct pprof_profile *profile = NULL;
  struct pprof_error error = {""};
  assert_int_equal(pprof_builder_finish(builder, &bytes, &size), 0);
  int failed = pprof_read(bytes, size, NULL, &profile, &error);
  free(bytes);
  assert_string_equal(error.message, "");
  assert_int_equal(failed, 0);
  return profile;
}

uint64_t simple_location(struct pprof_builder *builder, uint64_t address, const char *function) {
  struct pprof_line line = {
      .name = function, .system_name = function, .file = "a.c", .line = 2, .start_line = 1};
  return pprof_builder_location(builder, 0, address, &line, 1);
}

void bytes_append(struct bytes *bytes, const void *more, size_t size) {
  assert_in_range(size, 0, sizeof(bytes->data) - bytes->size);
  if (size > 0)
    memcpy(bytes->data + bytes->size, more, size);
  bytes->size += size;
}

static void append_varint(struct bytes *bytes, uint64_t value) {
  uint8_t byte;
  for (; value >= 0x80; value >>= 7) {
    byte = (uint8_t)(0x80 | (value & 0x7F));
    bytes_append(bytes, &byte, 1);
  }
  byte = (uint8_t)value;
  bytes_append(bytes, &byte, 1);
}

void bytes_number(struct bytes *bytes, uint32_t field, uint64_t value) {
  append_varint(bytes, field << 3);
  append_varint(bytes, value);
}

void bytes_block(struct bytes *bytes, uint32_t field, const void *block, size_t size) {
  append_varint(bytes, field << 3 | 2);
  append_varint(bytes, size);
  bytes_append(bytes, block, size);
}

void bytes_text(struct bytes *bytes, uint32_t field, const char *text) {
  bytes_block(bytes, field, text, strlen(text));
}

void bytes_message(struct bytes *bytes, uint32_t field, const struct bytes *message) {
  bytes_block(bytes, field, message->data, message->size);
}

void bytes_packed(struct bytes *bytes, uint32_t field, const uint64_t *values, size_t count) {
  struct bytes packed = {0};
  for (size_t i = 0; i < count; i++)
    append_varint(&packed, values[i]);
  bytes_message(bytes, field, &packed);
}
