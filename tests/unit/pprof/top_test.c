#include "pprof/top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static struct pprof_top *top_of(const struct pprof_profile *profile, size_t index) {
  struct pprof_top *top = pprof_top_create();
  assert_non_null(top);
  assert_int_equal(pprof_top_add(top, profile, index), 0);
  return top;
}

static void assert_rows(struct pprof_top *top, enum pprof_top_order order,
                        const struct pprof_top_row *expected, size_t count) {
  const struct pprof_top_row *rows;
  size_t actual;
  assert_int_equal(pprof_top_rows(top, order, &rows, &actual), 0);
  for (size_t i = 0; i < actual && i < count; i++) {
    assert_string_equal(rows[i].name, expected[i].name);
    assert_string_equal(rows[i].file, expected[i].file);
    assert_int_equal(rows[i].flat, expected[i].flat);
    assert_int_equal(rows[i].cum, expected[i].cum);
  }
  assert_int_equal(actual, count);
}

static void add_sample(struct pprof_builder *builder, int64_t value, size_t depth,
                       const char *const *names) {
  uint64_t locations[8];
  for (size_t i = 0; i < depth; i++)
    locations[i] = simple_location(builder, (uint64_t)names[i][0], names[i]);
  pprof_builder_sample(builder, locations, depth, (int64_t[]){1, value}, NULL, 0);
}

#define STACK(...)                                                                                 \
  sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *const[]) {                  \
    __VA_ARGS__                                                                                    \
  }

static void test_self_and_total(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  add_sample(builder, 30, STACK("leaf", "middle", "main"));
  add_sample(builder, 20, STACK("middle", "main"));
  add_sample(builder, 5, STACK("leaf", "main"));
  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_top *top = top_of(profile, 1);
  assert_int_equal(pprof_top_total(top), 55);
  const struct pprof_top_row by_flat[] = {
      {"leaf", "a.c", 35, 35}, {"middle", "a.c", 20, 50}, {"main", "a.c", 0, 55}};
  const struct pprof_top_row by_cum[] = {
      {"main", "a.c", 0, 55}, {"middle", "a.c", 20, 50}, {"leaf", "a.c", 35, 35}};
  assert_rows(top, PPROF_TOP_BY_FLAT, by_flat, 3);
  assert_rows(top, PPROF_TOP_BY_CUM, by_cum, 3);
  pprof_top_destroy(top);
  top = top_of(profile, 0);
  assert_int_equal(pprof_top_total(top), 3);
  pprof_top_destroy(top);
  pprof_profile_free(profile);
}

static void test_recursion_counts_once(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  add_sample(builder, 10, STACK("f", "f", "g", "f", "main"));
  add_sample(builder, 7, STACK("g", "f", "g", "main"));
  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_top *top = top_of(profile, 1);
  const struct pprof_top_row rows[] = {
      {"f", "a.c", 10, 17}, {"g", "a.c", 7, 17}, {"main", "a.c", 0, 17}};
  assert_rows(top, PPROF_TOP_BY_FLAT, rows, 3);
  pprof_top_destroy(top);
  pprof_profile_free(profile);
}

/* The innermost inlined function is the leaf; those that it was inlined into are callers. */
static void test_inlined_functions(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  const struct pprof_line lines[] = {
      {"inner", "inner", "a.c", 1, 1}, {"outer", "outer", "b.c", 2, 1}, {"f", "f", "c.c", 3, 1}};
  uint64_t locations[2] = {pprof_builder_location(builder, 0, 1, lines, 3),
                           pprof_builder_location(builder, 0, 2, lines + 1, 2)};
  pprof_builder_sample(builder, locations, 2, (int64_t[]){1, 10}, NULL, 0);
  pprof_builder_sample(builder, locations + 1, 1, (int64_t[]){1, 4}, NULL, 0);
  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_top *top = top_of(profile, 1);
  const struct pprof_top_row rows[] = {
      {"inner", "a.c", 10, 10}, {"outer", "b.c", 4, 14}, {"f", "c.c", 0, 14}};
  assert_rows(top, PPROF_TOP_BY_FLAT, rows, 3);
  pprof_top_destroy(top);
  pprof_profile_free(profile);
}

static void test_locations_without_symbols(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  const struct pprof_mapping mappings[] = {
      {.start = 1, .limit = 9, .path = "/usr/lib/libgrpc.so.29"},
      {.start = 10, .limit = 19, .path = "[vdso]"},
      {.start = 20, .limit = 29, .path = ""}};
  const struct pprof_line nameless = {.name = "", .file = "x.c"};
  uint64_t locations[6];
  for (size_t i = 0; i < 3; i++) {
    uint64_t mapping = pprof_builder_mapping(builder, &mappings[i]);
    locations[i] = pprof_builder_location(builder, mapping, mappings[i].start, NULL, 0);
  }
  locations[3] = pprof_builder_location(builder, 0, 99, NULL, 0);
  locations[4] = pprof_builder_location(builder, 1, 2, NULL, 0);
  locations[5] = pprof_builder_location(builder, 1, 3, &nameless, 1);
  for (size_t i = 0; i < 6; i++)
    pprof_builder_sample(builder, locations + i, 1, (int64_t[]){1, 1L << i}, NULL, 0);
  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_top *top = top_of(profile, 1);
  const struct pprof_top_row rows[] = {
      {"<unknown>", "", 44, 44}, {"[libgrpc.so.29]", "", 17, 17}, {"[vdso]", "", 2, 2}};
  assert_rows(top, PPROF_TOP_BY_FLAT, rows, 3);
  pprof_top_destroy(top);
  pprof_profile_free(profile);
}

static void test_profiles_add_up(void **state) {
  (void)state;
  struct pprof_top *top = pprof_top_create();
  assert_non_null(top);
  for (int64_t i = 0; i < 3; i++) {
    struct pprof_builder *builder = cpu_builder();
    if (i == 1)
      add_sample(builder, 1, STACK("other"));
    add_sample(builder, 10 + i, STACK("leaf", "main"));
    struct pprof_profile *profile = finish_and_read(builder);
    assert_int_equal(pprof_top_add(top, profile, 1), 0);
    pprof_profile_free(profile);
  }
  const struct pprof_top_row rows[] = {
      {"leaf", "a.c", 33, 33}, {"other", "a.c", 1, 1}, {"main", "a.c", 0, 33}};
  assert_rows(top, PPROF_TOP_BY_FLAT, rows, 3);
  pprof_top_destroy(top);
}

static void test_samples_of_another_type_are_no_rows(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  add_sample(builder, 0, STACK("freed"));
  add_sample(builder, 1, STACK("kept"));
  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_top *top = top_of(profile, 1);
  const struct pprof_top_row rows[] = {{"kept", "a.c", 1, 1}};
  assert_rows(top, PPROF_TOP_BY_FLAT, rows, 1);
  pprof_top_destroy(top);
  pprof_profile_free(profile);
}

static void test_sums_saturate(void **state) {
  (void)state;
  struct pprof_builder *builder = cpu_builder();
  add_sample(builder, INT64_MAX, STACK("f"));
  add_sample(builder, 1, STACK("f"));
  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_top *top = top_of(profile, 1);
  const struct pprof_top_row rows[] = {{"f", "a.c", INT64_MAX, INT64_MAX}};
  assert_rows(top, PPROF_TOP_BY_FLAT, rows, 1);
  assert_int_equal(pprof_top_total(top), INT64_MAX);
  pprof_top_destroy(top);
  pprof_profile_free(profile);
}

static void test_nothing_in_it(void **state) {
  (void)state;
  struct pprof_profile *profile = finish_and_read(cpu_builder());
  struct pprof_top *top = top_of(profile, 1);
  assert_rows(top, PPROF_TOP_BY_CUM, NULL, 0);
  assert_int_equal(pprof_top_total(top), 0);
  pprof_top_destroy(top);
  pprof_top_destroy(NULL);
  pprof_profile_free(profile);
}

/* Whatever the stacks: flat adds up to the total, and no cum is under its flat or over the total.
 */
static void test_sums_of_random_profiles(void **state) {
  (void)state;
  uint64_t random = 31;
  for (int round = 0; round < 20; round++) {
    struct pprof_builder *builder = cpu_builder();
    for (int i = 0; i < 200; i++) {
      char names[8][2];
      const char *stack[8];
      size_t depth = 1 + random_below(&random, 8);
      for (size_t j = 0; j < depth; j++) {
        names[j][0] = (char)('a' + random_below(&random, 12));
        names[j][1] = '\0';
        stack[j] = names[j];
      }
      add_sample(builder, 1 + (int64_t)random_below(&random, 1000), depth, stack);
    }
    struct pprof_profile *profile = finish_and_read(builder);
    struct pprof_top *top = top_of(profile, 1);
    const struct pprof_top_row *rows;
    size_t count;
    int64_t flat = 0;
    assert_int_equal(pprof_top_rows(top, PPROF_TOP_BY_FLAT, &rows, &count), 0);
    for (size_t i = 0; i < count; i++) {
      flat += rows[i].flat;
      assert_in_range(rows[i].cum, rows[i].flat, pprof_top_total(top));
      if (i > 0)
        assert_in_range(rows[i].flat, 0, rows[i - 1].flat);
    }
    assert_int_equal(flat, pprof_top_total(top));
    pprof_top_destroy(top);
    pprof_profile_free(profile);
  }
}

static void assert_choice(const char *standard, const char *name, size_t expected) {
  static const struct pprof_value_type types[] = {
      {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}};
  struct pprof_builder *builder = pprof_builder_create(&(struct pprof_header){
      .sample_types = types, .sample_type_count = 3, .default_sample_type = standard});
  assert_non_null(builder);
  struct pprof_profile *profile = finish_and_read(builder);
  struct pprof_error error = {""};
  size_t index = 99;
  pprof_top_choose(profile, name, &index, &error);
  assert_int_equal(index, expected);
  if (expected == 99) {
    assert_string_equal(error.message, "no sample type \"cpu\", only alloc_space, inuse_objects, "
                                       "inuse_space");
  }
  pprof_profile_free(profile);
}

static void test_choice_of_the_sample_type(void **state) {
  (void)state;
  assert_choice(NULL, NULL, 2);
  assert_choice("alloc_space", NULL, 0);
  assert_choice("nonsense", NULL, 2);
  assert_choice("alloc_space", "inuse_objects", 1);
  assert_choice(NULL, "cpu", 99);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_self_and_total),
      cmocka_unit_test(test_recursion_counts_once),
      cmocka_unit_test(test_inlined_functions),
      cmocka_unit_test(test_locations_without_symbols),
      cmocka_unit_test(test_profiles_add_up),
      cmocka_unit_test(test_samples_of_another_type_are_no_rows),
      cmocka_unit_test(test_sums_saturate),
      cmocka_unit_test(test_nothing_in_it),
      cmocka_unit_test(test_sums_of_random_profiles),
      cmocka_unit_test(test_choice_of_the_sample_type),
  };
  return cmocka_run_group_tests_name("pprof_top", tests, NULL, NULL);
}
