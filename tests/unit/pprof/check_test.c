#include "pprof/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sketch.h"

static struct pprof_profile *read_sketch(const struct sketch *sketch) {
  struct bytes bytes;
  struct pprof_profile *profile = NULL;
  struct pprof_error error = {""};
  sketch_encode(sketch, &bytes);
  int failed = pprof_read(bytes.data, bytes.size, NULL, &profile, &error);
  assert_string_equal(error.message, "");
  assert_int_equal(failed, 0);
  return profile;
}

static void test_good_profile(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct pprof_profile *profile = read_sketch(&sketch);
  struct pprof_error error = {""};
  assert_true(pprof_check(profile, &error));
  assert_true(pprof_fits_pyroscope(profile, &error));
  assert_string_equal(error.message, "");
  pprof_profile_free(profile);
}

/* Up to three numbers of the sketch that make it violate a rule. */
struct violation {
  struct {
    size_t at;
    uint64_t value;
  } changes[3];
  const char *message;
};

#define AT(field) offsetof(struct sketch, field)

static void test_each_violation_has_its_message(void **state) {
  (void)state;
  static const struct violation violations[] = {
      {{{AT(mapping_ids[1]), 3}},
       "the ids of the mappings are not 1, 2, 3, ... without gaps: the highest of 2 is 3"},
      {{{AT(function_ids[1]), 9}},
       "the ids of the functions are not 1, 2, 3, ... without gaps: the highest of 2 is 9"},
      {{{AT(location_ids[1]), 4}},
       "the ids of the locations are not 1, 2, 3, ... without gaps: the highest of 2 is 4"},
      {{{AT(values[0]), UINT64_MAX}}, "sample number 1 has the negative value -1"},
      {{{AT(mapping_start), 0x600000}},
       "the mapping /bin/program ends at 0x500000, before its start 0x600000"},
      {{{AT(location_address), 0x3fffff}},
       "the address 0x3fffff is outside of its mapping /bin/program, 0x400000 to 0x500000"},
      {{{AT(location_address), 0x500000}},
       "the address 0x500000 is outside of its mapping /bin/program, 0x400000 to 0x500000"},
      {{{AT(sample_type), STRING_DASHED}},
       "the sample type \"alloc-space\" is empty or has a \"-\""},
      {{{AT(sample_type), STRING_EMPTY}}, "the sample type \"\" is empty or has a \"-\""},
      {{{AT(sample_type_count), 2}, {AT(value_count), 2}}, "two sample types are named \"cpu\""},
      {{{AT(default_sample_type), STRING_MAIN}},
       "the default sample type \"main\" is none of the sample types"},
      {{{AT(label_key), STRING_EMPTY}}, "sample number 1 has a label without a key"},
      {{{AT(duration_ns), UINT64_MAX}}, "the period or the duration is negative"},
  };
  for (size_t i = 0; i < sizeof(violations) / sizeof(violations[0]); i++) {
    struct sketch sketch = sketch_good();
    for (size_t j = 0; j < 3 && violations[i].changes[j].at != 0; j++) {
      memcpy((char *)&sketch + violations[i].changes[j].at, &violations[i].changes[j].value,
             sizeof(uint64_t));
    }
    struct pprof_profile *profile = read_sketch(&sketch);
    struct pprof_error error = {""};
    assert_false(pprof_check(profile, &error));
    assert_string_equal(error.message, violations[i].message);
    pprof_profile_free(profile);
  }
}

static void test_not_text(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  sketch.strings[STRING_HELLO] = "h\xe4llo";
  struct pprof_profile *profile = read_sketch(&sketch);
  struct pprof_error error = {""};
  assert_false(pprof_check(profile, &error));
  assert_string_equal(error.message, "string_table[6] is not UTF-8 or has a NUL inside");
  pprof_profile_free(profile);
}

/* Addresses without a mapping, and the address 0, are outside of nothing. */
static void test_addresses_that_are_nowhere(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct pprof_error error = {""};
  sketch.location_address = 0;
  struct pprof_profile *profile = read_sketch(&sketch);
  pprof_check(profile, &error);
  assert_string_equal(error.message, "");
  pprof_profile_free(profile);
  sketch.location_address = 5;
  sketch.location_mapping = 0;
  profile = read_sketch(&sketch);
  pprof_check(profile, &error);
  assert_string_equal(error.message, "");
  pprof_profile_free(profile);
}

/* `samples` samples with so many labels and so deep. */
static struct pprof_profile *large_profile(size_t samples, size_t labels, size_t depth,
                                           size_t comment_bytes) {
  static uint64_t stack[1001];
  static struct pprof_label some[101];
  static char comment[(5 << 20) + 1];
  struct pprof_builder *builder = cpu_builder();
  uint64_t location = simple_location(builder, 1, "f");
  for (size_t i = 0; i < depth; i++)
    stack[i] = location;
  for (size_t i = 0; i < labels; i++)
    some[i] = (struct pprof_label){.key = "k", .text = "v"};
  for (size_t i = 0; i < samples; i++)
    pprof_builder_sample(builder, stack, depth, (int64_t[]){1, 1}, some, labels);
  memset(comment, 'x', comment_bytes);
  comment[comment_bytes] = '\0';
  pprof_builder_comment(builder, comment);
  return finish_and_read(builder);
}

static void test_limits_of_pyroscope(void **state) {
  (void)state;
  static const struct {
    size_t samples, labels, depth, comment_bytes;
    const char *message;
  } cases[] = {
      {16000, 1, 2, 0, ""},
      {16001, 1, 2, 0, "over a limit of Pyroscope: 16001 samples, at most 16000"},
      {1, 100, 2, 0, ""},
      {1, 101, 2, 0, "over a limit of Pyroscope: 101 labels of one sample, at most 100"},
      {1, 1, 1000, 0, ""},
      {1, 1, 1001, 0, "over a limit of Pyroscope: 1001 locations in one stack, at most 1000"},
      {1, 1, 1, 4194000, ""},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct pprof_error error = {""};
    struct pprof_profile *profile =
        large_profile(cases[i].samples, cases[i].labels, cases[i].depth, cases[i].comment_bytes);
    assert_int_equal(pprof_fits_pyroscope(profile, &error), cases[i].message[0] == '\0');
    assert_string_equal(error.message, cases[i].message);
    assert_true(pprof_check(profile, &error)); /* no fault of the profile */
    pprof_profile_free(profile);
  }
  struct pprof_error error = {""};
  char expected[sizeof(error.message)];
  struct pprof_profile *profile = large_profile(1, 1, 1, 4194304);
  assert_false(pprof_fits_pyroscope(profile, &error));
  snprintf(expected, sizeof(expected),
           "over a limit of Pyroscope: %zu bytes uncompressed, at most 4194304",
           profile->provenance.message_bytes);
  assert_string_equal(error.message, expected);
  pprof_profile_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_profile),
      cmocka_unit_test(test_each_violation_has_its_message),
      cmocka_unit_test(test_not_text),
      cmocka_unit_test(test_addresses_that_are_nowhere),
      cmocka_unit_test(test_limits_of_pyroscope),
  };
  return cmocka_run_group_tests_name("pprof_check", tests, NULL, NULL);
}
