#include "pprof/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sketch.h"

static void assert_refused(const void *bytes, size_t size, const struct pprof_limits *limits,
                           const char *message) {
  struct pprof_profile *profile = NULL;
  struct pprof_error error = {""};
  assert_int_equal(pprof_read(bytes, size, limits, &profile, &error), -1);
  assert_null(profile);
  assert_string_equal(error.message, message);
}

static struct pprof_profile *read_good(const struct bytes *bytes) {
  struct pprof_profile *profile = NULL;
  struct pprof_error error = {""};
  int failed = pprof_read(bytes->data, bytes->size, NULL, &profile, &error);
  assert_string_equal(error.message, "");
  assert_int_equal(failed, 0);
  return profile;
}

static void test_reads_the_sketch(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  sketch_encode(&sketch, &bytes);
  struct pprof_profile *profile = read_good(&bytes);
  assert_int_equal(profile->header.sample_type_count, 1);
  assert_string_equal(profile->header.sample_types[0].type, "cpu");
  assert_string_equal(profile->header.period_type.type, "");
  assert_null(profile->header.default_sample_type);
  assert_int_equal(profile->sample_count, 1);
  assert_int_equal(profile->samples[0].location_count, 2);
  assert_int_equal(profile->samples[0].values[0], 10);
  assert_string_equal(profile->samples[0].labels[0].key, "query");
  assert_string_equal(profile->samples[0].labels[0].text, "hello");
  assert_string_equal(profile->functions[profile->locations[0].frames[0].function].name, "main");
  assert_int_equal(profile->locations[0].frames[0].line, 17);
  assert_string_equal(profile->mappings[profile->locations[0].mapping].path, "/bin/program");
  assert_int_equal(profile->provenance.message_bytes, bytes.size);
  pprof_profile_free(profile);
}

/* The one thing that is wrong, and what is said about it. */
struct fault {
  size_t at; /* offset of a uint64_t in the sketch */
  uint64_t value;
  const char *message;
};

#define AT(field) offsetof(struct sketch, field)

static void test_each_fault_has_its_message(void **state) {
  (void)state;
  static const struct fault faults[] = {
      {AT(mapping_ids[1]), 0, "mapping number 2 has the id 0, which is reserved"},
      {AT(function_ids[0]), 0, "function number 1 has the id 0, which is reserved"},
      {AT(location_ids[0]), 0, "location number 1 has the id 0, which is reserved"},
      {AT(mapping_ids[1]), 1, "two of the mappings have the id 1"},
      {AT(function_ids[0]), 2, "two of the functions have the id 2"},
      {AT(location_ids[0]), 2, "two of the locations have the id 2"},
      {AT(location_mapping), 3, "location 1 refers to mapping 3, which does not exist"},
      {AT(location_function), 3, "location 1 refers to function 3, which does not exist"},
      {AT(location_function), 0, "location 1 refers to function 0, which does not exist"},
      {AT(sample_location), 3, "sample number 1 refers to location 3, which does not exist"},
      {AT(sample_location), 0, "sample number 1 refers to location 0, which does not exist"},
      {AT(value_count), 2, "sample number 1 has 2 values for 1 sample types"},
      {AT(value_count), 0, "sample number 1 has 0 values for 1 sample types"},
      {AT(sample_type_count), 0, "an empty profile: it has no sample types"},
      {AT(sample_type), 8, "sample type number 1: the string index 8 is out of range: 8 strings"},
      {AT(function_name), UINT64_MAX, "function 1: the string index -1 is out of range: 8 strings"},
      {AT(mapping_file), 99, "mapping 1: the string index 99 is out of range: 8 strings"},
      {AT(label_key), 99, "sample number 1: the string index 99 is out of range: 8 strings"},
      {AT(label_text), 99, "sample number 1: the string index 99 is out of range: 8 strings"},
      {AT(comment), 99, "comment number 1: the string index 99 is out of range: 8 strings"},
      {AT(default_sample_type), 99,
       "default sample type 1: the string index 99 is out of range: 8 strings"},
  };
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
    struct sketch sketch = sketch_good();
    struct bytes bytes;
    memcpy((char *)&sketch + faults[i].at, &faults[i].value, sizeof(uint64_t));
    sketch_encode(&sketch, &bytes);
    assert_refused(bytes.data, bytes.size, NULL, faults[i].message);
  }
}

static void test_string_table(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  sketch.strings[0] = "x";
  sketch_encode(&sketch, &bytes);
  assert_refused(bytes.data, bytes.size, NULL, "string_table[0] is not empty");
  sketch.strings[0] = NULL;
  sketch_encode(&sketch, &bytes);
  assert_refused(bytes.data, bytes.size, NULL, "not a pprof profile: it has no string table");
}

static void test_strings_that_are_not_text(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  sketch.strings[STRING_MAIN] = "m\xe4in";
  sketch.function_name = STRING_MAIN;
  sketch_encode(&sketch, &bytes);
  bytes_block(&bytes, 6, "a\0b", 3);
  struct pprof_profile *profile = read_good(&bytes);
  assert_string_equal(profile->functions[0].name, "m\xef\xbf\xbdin");
  assert_int_equal(profile->provenance.bad_strings, 2);
  assert_int_equal(profile->provenance.first_bad_string, STRING_MAIN);
  pprof_profile_free(profile);
}

/* Identifiers are names, not places. */
static void test_ids_in_any_order_and_with_gaps(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  sketch.mapping_ids[0] = UINT64_MAX;
  sketch.mapping_ids[1] = 7;
  sketch.location_mapping = UINT64_MAX;
  sketch.function_ids[0] = 12;
  sketch.function_ids[1] = 11;
  sketch.location_function = 11;
  sketch.location_ids[0] = 1000;
  sketch.location_ids[1] = 10;
  sketch.sample_location = 1000;
  sketch_encode(&sketch, &bytes);
  struct pprof_profile *profile = read_good(&bytes);
  assert_int_equal(profile->samples[0].locations[0], 0);
  assert_int_equal(profile->samples[0].locations[1], 1);
  assert_int_equal(profile->locations[0].mapping, 0);
  assert_int_equal(profile->locations[1].frames[0].function, 1);
  assert_int_equal(profile->provenance.max_mapping_id, UINT64_MAX);
  assert_int_equal(profile->provenance.max_function_id, 12);
  assert_int_equal(profile->provenance.max_location_id, 1000);
  pprof_profile_free(profile);
}

static void test_dangling_between_gaps(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  sketch.location_ids[0] = 1000;
  sketch.location_ids[1] = 10;
  for (uint64_t id = 0; id < 1010; id++) {
    char message[96];
    sketch.sample_location = id;
    sketch_encode(&sketch, &bytes);
    snprintf(message, sizeof(message),
             "sample number 1 refers to location %d, which does not exist", (int)id);
    if (id != 10 && id != 1000)
      assert_refused(bytes.data, bytes.size, NULL, message);
  }
}

static void test_what_is_no_profile(void **state) {
  (void)state;
  static const char html[] = "<html><body>404 page not found</body></html>";
  assert_refused("", 0, NULL, "empty: not one byte");
  assert_refused(html, strlen(html), NULL,
                 "not a pprof profile, or a truncated one: no field at byte 0");
  assert_refused("\x1f\x8bxxxxxxxxxxxxxxxxxxxx", 22, NULL,
                 "the gzip data is damaged: unknown compression method");
  /* A sample that is a number, and one that is no message. */
  assert_refused("\x10\x01\x32\x00", 4, NULL, "not a pprof profile, or a damaged one");
  assert_refused("\x12\x01\xff\x32\x00", 5, NULL, "not a pprof profile, or a damaged one");
}

/* A message cut between two fields is a message: then it is the references that are wrong. */
static void test_truncated_anywhere(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  sketch_encode(&sketch, &bytes);
  for (size_t size = 1; size < bytes.size; size++) {
    struct pprof_profile *profile = NULL;
    struct pprof_error error = {""};
    uint8_t *exact = malloc(size); /* so that a sanitizer sees a read past the end */
    assert_non_null(exact);
    memcpy(exact, bytes.data, size);
    if (pprof_read(exact, size, NULL, &profile, &error) == 0) {
      assert_in_range(size, bytes.size - 40, bytes.size); /* only what nobody refers to is gone */
      pprof_profile_free(profile);
    } else {
      assert_string_not_equal(error.message, "");
    }
    free(exact);
  }
}

static void test_concatenated(void **state) {
  (void)state;
  static const char message[] = "concatenated profiles: give each a file of its own";
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  struct bytes twice;
  sketch_encode(&sketch, &bytes);
  twice = bytes;
  bytes_append(&twice, bytes.data, bytes.size);
  assert_refused(twice.data, twice.size, NULL, message);

  void *zipped;
  size_t size;
  assert_int_equal(pprof_builder_finish(cpu_builder(), &zipped, &size), 0);
  twice.size = 0;
  bytes_append(&twice, zipped, size);
  bytes_append(&twice, zipped, size);
  free(zipped);
  assert_refused(twice.data, twice.size, NULL, message);
}

static void test_limits(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes bytes;
  sketch_encode(&sketch, &bytes);
  char message[64];
  snprintf(message, sizeof(message), "over the limit of %zu bytes", bytes.size - 1);
  assert_refused(bytes.data, bytes.size, &(struct pprof_limits){.max_file_bytes = bytes.size - 1},
                 message);
  assert_refused(bytes.data, bytes.size,
                 &(struct pprof_limits){.max_message_bytes = bytes.size - 1}, message);
  assert_refused(bytes.data, bytes.size, &(struct pprof_limits){.max_memory_bytes = 1000},
                 "over the limit of memory when decoded");

  void *zipped;
  size_t size;
  assert_int_equal(pprof_builder_finish(cpu_builder(), &zipped, &size), 0);
  assert_refused(zipped, size, &(struct pprof_limits){.max_message_bytes = 10},
                 "over the limit of 10 bytes when decompressed");
  free(zipped);
}

/* Two bytes of the file become some hundred in memory. */
static void test_message_that_swells(void **state) {
  (void)state;
  size_t size = (size_t)4 << 20;
  uint8_t *bytes = malloc(size);
  assert_non_null(bytes);
  for (size_t i = 0; i < size; i += 2) {
    bytes[i] = 2 << 3 | 2;
    bytes[i + 1] = 0;
  }
  assert_refused(bytes, size, &(struct pprof_limits){.max_memory_bytes = (size_t)64 << 20},
                 "over the limit of memory when decoded");
  free(bytes);
}

/* Never a crash, and never an index out of range. */
static void test_damaged_bytes(void **state) {
  (void)state;
  struct sketch sketch = sketch_good();
  struct bytes good;
  uint64_t random = 23;
  size_t taken = 0;
  sketch_encode(&sketch, &good);
  for (int i = 0; i < 100000; i++) {
    struct pprof_profile *profile = NULL;
    struct pprof_error error;
    uint8_t *bytes = malloc(good.size);
    assert_non_null(bytes);
    memcpy(bytes, good.data, good.size);
    for (size_t j = 1 + random_below(&random, 3); j > 0; j--)
      bytes[random_below(&random, good.size)] = (uint8_t)random_next(&random);
    if (pprof_read(bytes, good.size, NULL, &profile, &error) == 0) {
      taken++;
      for (size_t j = 0; j < profile->sample_count; j++) {
        for (size_t k = 0; k < profile->samples[j].location_count; k++)
          assert_in_range(profile->samples[j].locations[k], 0, profile->location_count - 1);
      }
    }
    pprof_profile_free(profile);
    free(bytes);
  }
  assert_in_range(taken, 1, 99999);
}

static void test_files(void **state) {
  (void)state;
  char path[] = "/tmp/reader-test-XXXXXX";
  struct pprof_profile *profile = NULL;
  struct pprof_error error = {""};
  void *bytes;
  size_t size;
  int fd = mkstemp(path);
  assert_int_not_equal(fd, -1);
  assert_int_equal(pprof_builder_finish(cpu_builder(), &bytes, &size), 0);
  assert_int_equal(write(fd, bytes, size), size);
  close(fd);
  assert_int_equal(pprof_read_file(path, NULL, &profile, &error), 0);
  assert_int_equal(profile->header.sample_type_count, 2);
  pprof_profile_free(profile);

  char message[64];
  snprintf(message, sizeof(message), "over the limit of %zu bytes", size - 1);
  struct pprof_limits limits = {.max_file_bytes = size - 1};
  assert_int_equal(pprof_read_file(path, &limits, &profile, &error), -1);
  assert_string_equal(error.message, message);
  unlink(path);
  assert_int_equal(pprof_read_file(path, NULL, &profile, &error), -1);
  assert_string_equal(error.message, "cannot be opened: No such file or directory");
  assert_int_equal(pprof_read_file("/", NULL, &profile, &error), -1);
  assert_string_equal(error.message, "cannot be read: Is a directory");
  free(bytes);
  pprof_profile_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_the_sketch),
      cmocka_unit_test(test_each_fault_has_its_message),
      cmocka_unit_test(test_string_table),
      cmocka_unit_test(test_strings_that_are_not_text),
      cmocka_unit_test(test_ids_in_any_order_and_with_gaps),
      cmocka_unit_test(test_dangling_between_gaps),
      cmocka_unit_test(test_what_is_no_profile),
      cmocka_unit_test(test_truncated_anywhere),
      cmocka_unit_test(test_concatenated),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_message_that_swells),
      cmocka_unit_test(test_damaged_bytes),
      cmocka_unit_test(test_files),
  };
  return cmocka_run_group_tests_name("pprof_reader", tests, NULL, NULL);
}
