#include "sketch.h"

struct sketch sketch_good(void) {
  return (struct sketch){
      .strings = {"", "cpu", "nanoseconds", "main", "/bin/program", "query", "hello",
                  "alloc-space"},
      .sample_type = STRING_CPU,
      .sample_type_count = 1,
      .mapping_ids = {1, 2},
      .mapping_start = 0x400000,
      .mapping_limit = 0x500000,
      .mapping_file = STRING_PROGRAM,
      .function_ids = {1, 2},
      .function_name = STRING_MAIN,
      .location_ids = {1, 2},
      .location_mapping = 1,
      .location_function = 1,
      .location_address = 0x400123,
      .sample_location = 1,
      .values = {10, 20, 30},
      .value_count = 1,
      .label_key = STRING_QUERY,
      .label_text = STRING_HELLO,
      .time_ns = 1700000000000000000,
      .duration_ns = 1000000000,
  };
}

static void add_sample(const struct sketch *sketch, struct bytes *out) {
  const uint64_t stack[] = {sketch->sample_location, sketch->location_ids[1]};
  struct bytes label = {0};
  struct bytes sample = {0};
  bytes_number(&label, 1, sketch->label_key);
  bytes_number(&label, 2, sketch->label_text);
  bytes_packed(&sample, 1, stack, 2);
  bytes_packed(&sample, 2, sketch->values, sketch->value_count);
  bytes_message(&sample, 3, &label);
  bytes_message(out, 2, &sample);
}

static void add_mapping(const struct sketch *sketch, int which, struct bytes *out) {
  struct bytes mapping = {0};
  bytes_number(&mapping, 1, sketch->mapping_ids[which]);
  bytes_number(&mapping, 2, sketch->mapping_start);
  bytes_number(&mapping, 3, sketch->mapping_limit);
  bytes_number(&mapping, 5, sketch->mapping_file);
  bytes_message(out, 3, &mapping);
}

static void add_location(const struct sketch *sketch, int which, struct bytes *out) {
  struct bytes line = {0};
  struct bytes location = {0};
  bytes_number(&line, 1, sketch->location_function);
  bytes_number(&line, 2, 17);
  bytes_number(&location, 1, sketch->location_ids[which]);
  bytes_number(&location, 2, sketch->location_mapping);
  bytes_number(&location, 3, sketch->location_address);
  bytes_message(&location, 4, &line);
  bytes_message(out, 4, &location);
}

static void add_function(const struct sketch *sketch, int which, struct bytes *out) {
  struct bytes function = {0};
  bytes_number(&function, 1, sketch->function_ids[which]);
  bytes_number(&function, 2, sketch->function_name);
  bytes_message(out, 5, &function);
}

void sketch_encode(const struct sketch *sketch, struct bytes *out) {
  *out = (struct bytes){0};
  for (uint64_t i = 0; i < sketch->sample_type_count; i++) {
    struct bytes type = {0};
    bytes_number(&type, 1, sketch->sample_type);
    bytes_number(&type, 2, STRING_NANOSECONDS);
    bytes_message(out, 1, &type);
  }
  add_sample(sketch, out);
  for (int i = 0; i < 2; i++) {
    add_mapping(sketch, i, out);
    add_location(sketch, i, out);
    add_function(sketch, i, out);
  }
  for (int i = 0; sketch->strings[i] != NULL; i++)
    bytes_text(out, 6, sketch->strings[i]);
  bytes_number(out, 9, sketch->time_ns);
  bytes_number(out, 10, sketch->duration_ns);
  bytes_number(out, 13, sketch->comment);
  bytes_number(out, 14, sketch->default_sample_type);
}
