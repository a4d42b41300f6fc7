#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pprof/top.h"
#include "support.h"

/* The linker sends the program's allocations here (--wrap), where the chosen one fails. */
static long allocations_left; /* the one that fails, counted from 1; 0 is none */
static long live;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_reallocarray(void *memory, size_t count, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static int allocation_fails(void) {
  return allocations_left > 0 && --allocations_left == 0;
}

static void *counted(void *memory) {
  live += memory != NULL;
  return memory;
}

void *__wrap_malloc(size_t size) {
  return allocation_fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return allocation_fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (allocation_fails())
    return NULL;
  live += memory == NULL;
  return __real_realloc(memory, size);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t size) {
  if (allocation_fails())
    return NULL;
  live += memory == NULL;
  return __real_reallocarray(memory, count, size);
}

char *__wrap_strdup(const char *text) {
  return allocation_fails() ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *memory) {
  live -= memory != NULL;
  __real_free(memory);
}

/* Enough of everything for each table and buffer to grow. 0, or -1 when it failed. */
static int build(void **out, size_t *out_size) {
  static const struct pprof_value_type type = {"alloc-space", "bytes"};
  struct pprof_builder *builder =
      pprof_builder_create(&(struct pprof_header){.sample_types = &type, .sample_type_count = 1});
  if (builder == NULL)
    return -1;
  struct pprof_mapping mapping = {.limit = 10000, .path = "/bin/a", .build_id = "0"};
  uint64_t id = pprof_builder_mapping(builder, &mapping);
  for (uint64_t i = 0; i < 300; i++) {
    char name[16];
    snprintf(name, sizeof(name), "f%d\xff", (int)i);
    struct pprof_line lines[] = {{name, name, "a.c", 1, 1}, {"main", "main", "a.c", 1, 1}};
    uint64_t location = pprof_builder_location(builder, id, i, lines, 2);
    struct pprof_label label = {.key = "k", .text = name};
    pprof_builder_sample(builder, &location, 1, (int64_t[]){1}, &label, 1);
  }
  pprof_builder_comment(builder, "comment");
  return pprof_builder_finish(builder, out, out_size);
}

static void test_builder(void **state) {
  (void)state;
  void *good = NULL;
  size_t good_size = 0;
  assert_int_equal(build(&good, &good_size), 0);
  long before = live;
  long failures = 0;
  for (long n = 1;; n++) {
    void *bytes = NULL;
    size_t size = 0;
    allocations_left = n;
    int result = build(&bytes, &size);
    long left = allocations_left;
    allocations_left = 0;
    if (result == 0) {
      assert_int_equal(size, good_size);
      assert_memory_equal(bytes, good, size);
      free(bytes);
      assert_in_range(left, 1, n); /* fewer than n allocations were made */
      break;
    }
    failures++;
    assert_int_equal(left, 0);
    assert_null(bytes);
    assert_int_equal(live, before);
  }
  assert_in_range(failures, 20, 10000);
  assert_int_equal(live, before);
  free(good);
}

/* Reads the profile and makes its table. 0, or -1 when it failed. */
static int read_and_sum(const void *bytes, size_t size) {
  struct pprof_profile *profile;
  struct pprof_error error;
  const struct pprof_top_row *rows;
  size_t count;
  if (pprof_read(bytes, size, NULL, &profile, &error) != 0) {
    assert_true(strcmp(error.message, "out of memory") == 0 ||
                strcmp(error.message, "not a pprof profile, or a damaged one") == 0);
    return -1;
  }
  struct pprof_top *top = pprof_top_create();
  int result = -1;
  if (top != NULL && pprof_top_add(top, profile, 0) == 0)
    result = pprof_top_rows(top, PPROF_TOP_BY_FLAT, &rows, &count);
  if (result == 0)
    assert_int_equal(count, 301);
  pprof_top_destroy(top);
  pprof_profile_free(profile);
  return result;
}

static void test_reader_and_top(void **state) {
  (void)state;
  void *bytes = NULL;
  size_t size = 0;
  assert_int_equal(build(&bytes, &size), 0);
  long before = live;
  long failures = 0;
  for (long n = 1;; n++) {
    allocations_left = n;
    int result = read_and_sum(bytes, size);
    long left = allocations_left;
    allocations_left = 0;
    assert_int_equal(live, before);
    if (result == 0) {
      assert_in_range(left, 1, n);
      break;
    }
    failures++;
  }
  assert_in_range(failures, 10, 10000);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_builder),
      cmocka_unit_test(test_reader_and_top),
  };
  return cmocka_run_group_tests_name("pprof_faults", tests, NULL, NULL);
}
