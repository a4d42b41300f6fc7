/*
 * make_profile KIND FILE: writes a profile with everything that profiles have, for
 * the tests of other programs that read it. Kinds: cpu, heap, large, empty, and plain: cpu
 * without inlined functions and with symbols everywhere.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/builder.h"

enum {
  MAX_DEPTH = 24
};

static uint64_t random_state = 88172645463325252;

static size_t draw(size_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (size_t)(random_state % below);
}

static const struct pprof_value_type cpu_types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
static const struct pprof_value_type heap_types[] = {{"alloc_objects", "count"},
                                                     {"alloc_space", "bytes"},
                                                     {"inuse_objects", "count"},
                                                     {"inuse_space", "bytes"}};

static struct pprof_builder *create(int is_heap) {
  return pprof_builder_create(&(struct pprof_header){
      .sample_types = is_heap ? heap_types : cpu_types,
      .sample_type_count = is_heap ? 4 : 2,
      .period_type = is_heap ? (struct pprof_value_type){"space", "bytes"}
                             : (struct pprof_value_type){"cpu", "nanoseconds"},
      .period = is_heap ? 524288 : 10000000,
      .time_ns = 1700000000123456789,
      .duration_ns = 10000000000,
      .default_sample_type = is_heap ? "alloc_space" : NULL,
  });
}

/* The program, a library with and one without symbols. */
static void add_mappings(struct pprof_builder *builder, uint64_t ids[3]) {
  static const char *const paths[] = {"/opt/test/program", "/opt/test/libwith.so.1",
                                      "/opt/test/libwithout.so.2"};
  /* Different ones: pprof takes mappings for one by build id, size and offset. */
  static const char *const build_ids[] = {"00112233445566778899aabbccddeeff", "0123", "4567"};
  for (uint64_t i = 0; i < 3; i++) {
    ids[i] = pprof_builder_mapping(builder, &(struct pprof_mapping){
                                                .start = 0x400000 + i * 0x1000000,
                                                .limit = 0x500000 + i * 0x1000000,
                                                .file_offset = 0x1000,
                                                .path = paths[i],
                                                .build_id = build_ids[i],
                                                .has_functions = i < 2,
                                                .has_filenames = i < 2,
                                                .has_line_numbers = i < 2,
                                                .has_inline_frames = i < 2,
                                            });
  }
}

/* A function whose names depend on its number: C, C++, and letters that are not ASCII. */
static void describe(size_t number, char name[64], char system_name[64], struct pprof_line *out) {
  if (number % 3 == 1) {
    snprintf(name, 64, "ns::Type<int>::method_%zu(char const*)", number);
    snprintf(system_name, 64, "_Z8method%zuPKc", number);
  } else {
    snprintf(name, 64, "%s_%zu", number % 3 == 0 ? "function" : "größe", number);
    memcpy(system_name, name, 64);
  }
  *out = (struct pprof_line){.name = name,
                             .system_name = system_name,
                             .file = number % 2 == 0 ? "/src/even.c" : "/src/odd.cc",
                             .line = (int64_t)(10 + number),
                             .start_line = (int64_t)(1 + number)};
}

static uint64_t add_location(struct pprof_builder *builder, const uint64_t mappings[3],
                             int is_plain) {
  size_t number = draw(is_plain ? 55 : 60);
  char names[3][2][64];
  struct pprof_line lines[3];
  if (number >= 55) {
    uint64_t address = 0x2400000 + number;
    return pprof_builder_location(builder, mappings[2], address, NULL, 0);
  }
  size_t inlined = number % 5 == 0 && !is_plain ? 3 : 1;
  for (size_t i = 0; i < inlined; i++)
    describe((number + 7 * i) % 55, names[i][0], names[i][1], &lines[i]);
  uint64_t mapping = number % 2;
  return pprof_builder_location(builder, mappings[mapping],
                                0x400000 + mapping * 0x1000000 + 16 * number, lines, inlined);
}

static void add_sample(struct pprof_builder *builder, const uint64_t mappings[3], int is_heap,
                       int is_plain) {
  uint64_t locations[MAX_DEPTH];
  int64_t values[4];
  size_t depth = 1 + draw(MAX_DEPTH);
  for (size_t i = 0; i < depth; i++)
    locations[i] = add_location(builder, mappings, is_plain);
  int64_t count = 1 + (int64_t)draw(20);
  int64_t bytes = 16 << draw(12);
  int64_t live = (int64_t)draw(3) == 0 ? count : 0;
  if (is_heap)
    memcpy(values, (int64_t[]){count, count * bytes, live, live * bytes}, sizeof(values));
  else
    memcpy(values, (int64_t[]){count, count * 10000000}, 2 * sizeof(values[0]));
  const struct pprof_label labels[] = {
      {.key = "method", .text = "GetMatchCount"},
      {.key = "query", .text = "to be, or not to be"},
      {.key = "bytes", .number = bytes, .unit = "bytes"},
  };
  pprof_builder_sample(builder, locations, depth, values, labels, is_heap ? 3 : 2);
}

static int write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "we");
  if (file == NULL)
    return -1;
  size_t written = fwrite(bytes, 1, size, file);
  return fclose(file) == 0 && written == size ? 0 : -1;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  uint64_t mappings[3];
  void *bytes;
  size_t size;
  int is_heap = strcmp(argv[1], "heap") == 0;
  int is_plain = strcmp(argv[1], "plain") == 0;
  size_t samples = strcmp(argv[1], "large") == 0 ? 100000 : strcmp(argv[1], "empty") == 0 ? 0 : 500;
  struct pprof_builder *builder = create(is_heap);
  if (builder == NULL)
    return 1;
  add_mappings(builder, mappings);
  for (size_t i = 0; i < samples; i++)
    add_sample(builder, mappings, is_heap, is_plain);
  pprof_builder_comment(builder, "folio: nothing was lost");
  if (pprof_builder_finish(builder, &bytes, &size) != 0)
    return 1;
  int result = write_file(argv[2], bytes, size);
  free(bytes);
  return result == 0 ? 0 : 1;
}
