#include "pprof/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pprof/check.h"
#include "support.h"

/*
 * A random profile in plain arrays, with many things equal: what the builder is told
 * and what the reader must find.
 */
enum {
  MAX_SAMPLES = 300,
  MAX_DEPTH = 20,
  MAX_LINES = 3,
  MAX_LABELS = 3,
  MAX_TYPES = 4,
  MAPPINGS = 5,
};

struct frame {
  size_t mapping; /* from 1; 0 is none */
  uint64_t address;
  struct pprof_line lines[MAX_LINES];
  size_t line_count;
};

struct stack {
  struct frame frames[MAX_DEPTH];
  size_t depth;
  int64_t values[MAX_TYPES];
  struct pprof_label labels[MAX_LABELS];
  size_t label_count;
};

struct plan {
  struct pprof_value_type types[MAX_TYPES];
  struct pprof_header header;
  struct pprof_mapping mappings[MAPPINGS];
  struct stack stacks[MAX_SAMPLES];
  size_t sample_count;
  size_t comment_count;
};

static const char *const words[] = {"",
                                    "main",
                                    "malloc",
                                    "std::vector<int>::push_back(int const&)",
                                    "_ZN3foo3barEv",
                                    "/usr/lib/libc.so.6",
                                    "a.c",
                                    "été"};

static const char *draw_word(uint64_t *random) {
  return words[random_below(random, sizeof(words) / sizeof(words[0]))];
}

/* Small numbers often, and all sizes up to 63 bits. */
static int64_t draw_number(uint64_t *random) {
  return (int64_t)(random_next(random) >> (1 + random_below(random, 63)));
}

static void draw_header(uint64_t *random, struct plan *plan) {
  static const char *const types[MAX_TYPES] = {"alloc_objects", "alloc_space", "inuse_objects",
                                               "inuse_space"};
  for (size_t i = 0; i < MAX_TYPES; i++)
    plan->types[i] = (struct pprof_value_type){types[i], i % 2 == 0 ? "count" : "bytes"};
  plan->header = (struct pprof_header){
      .sample_types = plan->types,
      .sample_type_count = 1 + random_below(random, MAX_TYPES),
      .period_type = {"space", "bytes"},
      .period = draw_number(random),
      .time_ns = draw_number(random),
      .duration_ns = draw_number(random),
      .default_sample_type = random_below(random, 2) == 0 ? NULL : types[0],
      .doc_url = random_below(random, 2) == 0 ? NULL : "https://example.org/",
  };
  for (size_t i = 0; i < MAPPINGS; i++) {
    plan->mappings[i] = (struct pprof_mapping){
        .start = (i + 1) * 0x100000,
        .limit = (i + 2) * 0x100000,
        .file_offset = i * 0x1000,
        .path = words[1 + i],
        .build_id = draw_word(random),
        .has_functions = (int)random_below(random, 2),
        .has_filenames = (int)random_below(random, 2),
        .has_line_numbers = (int)random_below(random, 2),
        .has_inline_frames = (int)random_below(random, 2),
    };
  }
  plan->comment_count = random_below(random, 4);
}

static void draw_frame(uint64_t *random, struct frame *frame) {
  frame->mapping = random_below(random, MAPPINGS + 1);
  frame->address = frame->mapping * 0x100000 + random_below(random, 30);
  frame->line_count = random_below(random, MAX_LINES + 1);
  for (size_t i = 0; i < frame->line_count; i++) {
    frame->lines[i] = (struct pprof_line){
        .name = draw_word(random),
        .system_name = draw_word(random),
        .file = draw_word(random),
        .line = (int64_t)random_below(random, 3),
        .start_line = (int64_t)random_below(random, 2),
    };
  }
}

static void draw_stack(uint64_t *random, struct stack *stack) {
  stack->depth = random_below(random, MAX_DEPTH + 1);
  for (size_t i = 0; i < stack->depth; i++)
    draw_frame(random, &stack->frames[i]);
  for (size_t i = 0; i < MAX_TYPES; i++)
    stack->values[i] = draw_number(random);
  stack->label_count = random_below(random, MAX_LABELS + 1);
  for (size_t i = 0; i < stack->label_count; i++) {
    struct pprof_label *label = &stack->labels[i];
    *label = (struct pprof_label){.key = "key"};
    if (random_below(random, 2) == 0) {
      label->text = words[1 + random_below(random, 6)];
    } else {
      label->number = draw_number(random);
      label->unit = random_below(random, 2) == 0 ? NULL : "bytes";
    }
  }
}

static void draw_plan(uint64_t *random, struct plan *plan) {
  draw_header(random, plan);
  plan->sample_count = random_below(random, MAX_SAMPLES + 1);
  for (size_t i = 0; i < plan->sample_count; i++)
    draw_stack(random, &plan->stacks[i]);
}

static void build_sample(struct pprof_builder *builder, const struct stack *stack,
                         const uint64_t *mapping_ids) {
  uint64_t locations[MAX_DEPTH];
  for (size_t i = 0; i < stack->depth; i++) {
    const struct frame *frame = &stack->frames[i];
    uint64_t mapping = frame->mapping == 0 ? 0 : mapping_ids[frame->mapping - 1];
    locations[i] =
        pprof_builder_location(builder, mapping, frame->address, frame->lines, frame->line_count);
    assert_int_not_equal(locations[i], 0);
  }
  pprof_builder_sample(builder, locations, stack->depth, stack->values, stack->labels,
                       stack->label_count);
}

static struct pprof_builder *build(const struct plan *plan) {
  uint64_t mapping_ids[MAPPINGS];
  struct pprof_builder *builder = pprof_builder_create(&plan->header);
  assert_non_null(builder);
  for (size_t i = 0; i < MAPPINGS; i++) {
    mapping_ids[i] = pprof_builder_mapping(builder, &plan->mappings[i]);
    assert_int_equal(mapping_ids[i], i + 1);
  }
  for (size_t i = 0; i < plan->sample_count; i++)
    build_sample(builder, &plan->stacks[i], mapping_ids);
  for (size_t i = 0; i < plan->comment_count; i++)
    pprof_builder_comment(builder, words[i]);
  return builder;
}

static void assert_text(const char *actual, const char *expected) {
  assert_int_equal(actual == NULL, expected == NULL);
  if (expected != NULL)
    assert_string_equal(actual, expected);
}

static void assert_header(const struct pprof_profile *profile, const struct plan *plan) {
  const struct pprof_header *actual = &profile->header;
  assert_int_equal(actual->sample_type_count, plan->header.sample_type_count);
  for (size_t i = 0; i < actual->sample_type_count; i++) {
    assert_string_equal(actual->sample_types[i].type, plan->types[i].type);
    assert_string_equal(actual->sample_types[i].unit, plan->types[i].unit);
  }
  assert_string_equal(actual->period_type.type, "space");
  assert_string_equal(actual->period_type.unit, "bytes");
  assert_int_equal(actual->period, plan->header.period);
  assert_int_equal(actual->time_ns, plan->header.time_ns);
  assert_int_equal(actual->duration_ns, plan->header.duration_ns);
  assert_text(actual->default_sample_type, plan->header.default_sample_type);
  assert_text(actual->doc_url, plan->header.doc_url);
  assert_string_equal(profile->drop_frames, "");
  assert_string_equal(profile->keep_frames, "");
  assert_int_equal(profile->comment_count, plan->comment_count);
  for (size_t i = 0; i < plan->comment_count; i++)
    assert_string_equal(profile->comments[i], words[i]);
}

static void assert_mapping(const struct pprof_mapping *actual,
                           const struct pprof_mapping *expected) {
  assert_int_equal(actual->start, expected->start);
  assert_int_equal(actual->limit, expected->limit);
  assert_int_equal(actual->file_offset, expected->file_offset);
  assert_string_equal(actual->path, expected->path);
  assert_string_equal(actual->build_id, expected->build_id);
  assert_int_equal(actual->has_functions, expected->has_functions);
  assert_int_equal(actual->has_filenames, expected->has_filenames);
  assert_int_equal(actual->has_line_numbers, expected->has_line_numbers);
  assert_int_equal(actual->has_inline_frames, expected->has_inline_frames);
}

static void assert_frame(const struct pprof_profile *profile, uint32_t index,
                         const struct frame *expected) {
  assert_in_range(index, 0, profile->location_count - 1);
  const struct pprof_location *location = &profile->locations[index];
  assert_int_equal(location->mapping,
                   expected->mapping == 0 ? PPROF_NO_MAPPING : expected->mapping - 1);
  assert_int_equal(location->address, expected->address);
  assert_false(location->is_folded);
  assert_int_equal(location->frame_count, expected->line_count);
  for (size_t i = 0; i < expected->line_count; i++) {
    const struct pprof_line *line = &expected->lines[i];
    assert_in_range(location->frames[i].function, 0, profile->function_count - 1);
    const struct pprof_function *function = &profile->functions[location->frames[i].function];
    assert_int_equal(location->frames[i].line, line->line);
    assert_string_equal(function->name, line->name);
    assert_string_equal(function->system_name, line->system_name);
    assert_string_equal(function->file, line->file);
    assert_int_equal(function->start_line, line->start_line);
  }
}

static void assert_stack(const struct pprof_profile *profile, const struct pprof_sample *actual,
                         const struct stack *expected) {
  assert_int_equal(actual->location_count, expected->depth);
  for (size_t i = 0; i < expected->depth; i++)
    assert_frame(profile, actual->locations[i], &expected->frames[i]);
  for (size_t i = 0; i < profile->header.sample_type_count; i++)
    assert_int_equal(actual->values[i], expected->values[i]);
  assert_int_equal(actual->label_count, expected->label_count);
  for (size_t i = 0; i < expected->label_count; i++) {
    assert_string_equal(actual->labels[i].key, expected->labels[i].key);
    assert_text(actual->labels[i].text, expected->labels[i].text);
    assert_text(actual->labels[i].unit, expected->labels[i].unit);
    assert_int_equal(actual->labels[i].number, expected->labels[i].number);
  }
}

/* No two functions and no two locations are equal. */
static void assert_each_once(const struct pprof_profile *profile) {
  for (size_t i = 0; i < profile->function_count; i++) {
    const struct pprof_function *a = &profile->functions[i];
    for (size_t j = 0; j < i; j++) {
      const struct pprof_function *b = &profile->functions[j];
      assert_false(strcmp(a->name, b->name) == 0 && strcmp(a->system_name, b->system_name) == 0 &&
                   strcmp(a->file, b->file) == 0 && a->start_line == b->start_line);
    }
  }
  for (size_t i = 0; i < profile->location_count; i++) {
    const struct pprof_location *a = &profile->locations[i];
    for (size_t j = 0; j < i; j++) {
      const struct pprof_location *b = &profile->locations[j];
      bool equal =
          a->mapping == b->mapping && a->address == b->address && a->frame_count == b->frame_count;
      for (size_t k = 0; equal && k < a->frame_count; k++)
        equal = a->frames[k].function == b->frames[k].function &&
                a->frames[k].line == b->frames[k].line;
      assert_false(equal);
    }
  }
}

static void test_what_is_built_is_read(void **state) {
  (void)state;
  static struct plan plan;
  for (uint64_t seed = 1; seed <= 25; seed++) {
    uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
    struct pprof_error error = {""};
    draw_plan(&random, &plan);
    struct pprof_profile *profile = finish_and_read(build(&plan));
    pprof_check(profile, &error);
    assert_string_equal(error.message, "");
    assert_header(profile, &plan);
    assert_int_equal(profile->mapping_count, MAPPINGS);
    for (size_t i = 0; i < MAPPINGS; i++)
      assert_mapping(&profile->mappings[i], &plan.mappings[i]);
    assert_int_equal(profile->sample_count, plan.sample_count);
    for (size_t i = 0; i < plan.sample_count; i++)
      assert_stack(profile, &profile->samples[i], &plan.stacks[i]);
    if (seed <= 3)
      assert_each_once(profile);
    pprof_profile_free(profile);
  }
}

static void test_same_calls_give_same_bytes(void **state) {
  (void)state;
  static struct plan plan;
  uint64_t random = 99;
  void *bytes[2];
  size_t sizes[2];
  draw_plan(&random, &plan);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pprof_builder_finish(build(&plan), &bytes[i], &sizes[i]), 0);
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(bytes[0], bytes[1], sizes[0]);
  free(bytes[0]);
  free(bytes[1]);
}

static void test_equal_things_have_equal_ids(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  struct pprof_mapping program = {.start = 1, .limit = 100, .path = "/bin/a", .build_id = "00"};
  struct pprof_line lines[] = {{"f", "f", "a.c", 3, 1}, {"g", "g", "a.c", 9, 7}};
  assert_int_equal(pprof_builder_mapping(builder, &program), 1);
  assert_int_equal(pprof_builder_mapping(builder, &program), 1);
  program.build_id = "01";
  assert_int_equal(pprof_builder_mapping(builder, &program), 2);

  assert_int_equal(pprof_builder_location(builder, 1, 10, lines, 2), 1);
  assert_int_equal(pprof_builder_location(builder, 1, 10, lines, 1), 2);
  assert_int_equal(pprof_builder_location(builder, 1, 10, NULL, 0), 3);
  assert_int_equal(pprof_builder_location(builder, 2, 10, lines, 2), 4);
  assert_int_equal(pprof_builder_location(builder, 1, 11, lines, 2), 5);
  assert_int_equal(pprof_builder_location(builder, 1, 10, lines, 2), 1);
  lines[0].line = 4;
  assert_int_equal(pprof_builder_location(builder, 1, 10, lines, 2), 6);
  lines[0].line = 3;
  lines[0].start_line = 2; /* another function */
  assert_int_equal(pprof_builder_location(builder, 1, 10, lines, 2), 7);

  struct pprof_profile *profile = finish_and_read(builder);
  assert_int_equal(profile->mapping_count, 2);
  assert_int_equal(profile->location_count, 7);
  assert_int_equal(profile->function_count, 3);
  pprof_profile_free(profile);
}

static void test_bad_names_are_repaired(void **state) {
  (void)state;
  const struct pprof_value_type types[] = {{"alloc-space", "by\xfftes"}};
  struct pprof_builder *builder = pprof_builder_create(&(struct pprof_header){
      .sample_types = types,
      .sample_type_count = 1,
      .period_type = {"-x-", NULL},
      .default_sample_type = "alloc-space",
  });
  assert_non_null(builder);
  struct pprof_line line = {.name = "caf\xe9", .file = "\xc3"};
  uint64_t location = pprof_builder_location(builder, 0, 1, &line, 1);
  int64_t value = 5;
  struct pprof_label label = {.key = "query", .text = "\xff\xff"};
  pprof_builder_sample(builder, &location, 1, &value, &label, 1);
  pprof_builder_comment(builder, "\x80");

  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_error error = {""};
  pprof_check(profile, &error);
  assert_string_equal(error.message, "");
  assert_string_equal(profile->header.sample_types[0].type, "alloc_space");
  assert_string_equal(profile->header.sample_types[0].unit, "by\xef\xbf\xbdtes");
  assert_string_equal(profile->header.default_sample_type, "alloc_space");
  assert_string_equal(profile->header.period_type.type, "_x_");
  assert_string_equal(profile->header.period_type.unit, "");
  assert_string_equal(profile->functions[0].name, "caf\xef\xbf\xbd");
  assert_string_equal(profile->functions[0].system_name, "");
  assert_string_equal(profile->functions[0].file, "\xef\xbf\xbd");
  assert_string_equal(profile->samples[0].labels[0].text, "\xef\xbf\xbd\xef\xbf\xbd");
  assert_string_equal(profile->comments[0], "\xef\xbf\xbd");
  pprof_profile_free(profile);
}

static void test_labels_without_value_are_left_out(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  const struct pprof_label labels[] = {{.key = "a", .text = ""},
                                       {.key = "b", .number = 0},
                                       {.key = "c", .text = "x"},
                                       {.key = "d", .number = -1, .unit = "bytes"}};
  const int64_t values[] = {1, 2};
  pprof_builder_sample(builder, NULL, 0, values, labels, 4);
  struct pprof_profile *profile = finish_and_read(builder);
  assert_int_equal(profile->sample_count, 1);
  const struct pprof_sample *sample = &profile->samples[0];
  assert_int_equal(sample->label_count, 3);
  assert_string_equal(sample->labels[0].key, "b");
  assert_null(sample->labels[0].text);
  assert_string_equal(sample->labels[1].key, "c");
  assert_string_equal(sample->labels[2].key, "d");
  assert_int_equal(sample->labels[2].number, -1);
  assert_string_equal(sample->labels[2].unit, "bytes");
  pprof_profile_free(profile);
}

static void test_nothing_recorded(void **state) {
  (void)state;
  struct pprof_profile *profile = finish_and_read(cpu_builder());
  struct pprof_error error = {""};
  pprof_check(profile, &error);
  assert_string_equal(error.message, "");
  assert_int_equal(profile->sample_count, 0);
  assert_int_equal(profile->header.duration_ns, 10000000000);
  pprof_profile_free(profile);
}

static void test_many_samples(void **state) {
  (void)state;
  enum {
    COUNT = 100000,
    DEPTH = 10,
    FUNCTIONS = 3000
  };
  struct pprof_builder *builder = cpu_builder();
  uint64_t random = 17;
  for (int64_t i = 0; i < COUNT; i++) {
    uint64_t locations[DEPTH];
    for (size_t j = 0; j < DEPTH; j++) {
      char name[32];
      size_t function = random_below(&random, FUNCTIONS);
      snprintf(name, sizeof(name), "function_%zu", function);
      locations[j] = simple_location(builder, function, name);
    }
    pprof_builder_sample(builder, locations, DEPTH, (int64_t[]){1, i}, NULL, 0);
  }
  struct pprof_profile *profile = finish_and_read(builder);
  assert_int_equal(profile->sample_count, COUNT);
  assert_int_equal(profile->function_count, FUNCTIONS);
  assert_int_equal(profile->location_count, FUNCTIONS);
  for (int64_t i = 0; i < COUNT; i++)
    assert_int_equal(profile->samples[i].values[1], i);
  pprof_profile_free(profile);
}

static void test_discard(void **state) {
  (void)state;
  pprof_builder_discard(NULL);
  struct pprof_builder *builder = cpu_builder();
  simple_location(builder, 1, "f");
  pprof_builder_comment(builder, "dropped");
  pprof_builder_discard(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_built_is_read),
      cmocka_unit_test(test_same_calls_give_same_bytes),
      cmocka_unit_test(test_equal_things_have_equal_ids),
      cmocka_unit_test(test_bad_names_are_repaired),
      cmocka_unit_test(test_labels_without_value_are_left_out),
      cmocka_unit_test(test_nothing_recorded),
      cmocka_unit_test(test_many_samples),
      cmocka_unit_test(test_discard),
  };
  return cmocka_run_group_tests_name("pprof_builder", tests, NULL, NULL);
}
