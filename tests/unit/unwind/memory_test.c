/* Every allocation of a refresh fails once: the tables in force stay. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "oracle.h"
#include "unwind/modules.h"
#include "unwind/unwind.h"

enum {
  MAX_FRAMES = 100
};

static long allowed = -1; /* allocations until one fails; below 0: all succeed */

static bool may_allocate(void) {
  if (allowed < 0)
    return true;
  if (allowed > 0) {
    allowed--;
    return true;
  }
  errno = ENOMEM;
  return false;
}

void *__real_mmap(void *address, size_t size, int rights, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int rights, int flags, int file, off_t offset);
void *__real_mremap(void *old, size_t old_size, size_t size, int flags);
void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size);

void *__wrap_mmap(void *address, size_t size, int rights, int flags, int file, off_t offset) {
  return may_allocate() ? __real_mmap(address, size, rights, flags, file, offset) : MAP_FAILED;
}

void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags) {
  return may_allocate() ? __real_mremap(old, old_size, size, flags) : MAP_FAILED;
}

void *__wrap_malloc(size_t size) {
  return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size) {
  return may_allocate() ? __real_calloc(count, size) : NULL;
}

char *__wrap_strdup(const char *text) {
  return may_allocate() ? __real_strdup(text) : NULL;
}

char *__wrap_strndup(const char *text, size_t size) {
  return may_allocate() ? __real_strndup(text, size) : NULL;
}

static size_t walk_here(enum unwind_end *out_end) {
  uintptr_t pcs[MAX_FRAMES];
  struct unwind_stack stack = oracle_stack();
  struct unwind_start start = unwind_here();
  return unwind_walk(&start, &stack, pcs, MAX_FRAMES, out_end);
}

static int refresh_with(long allocations) {
  allowed = allocations;
  int result = unwind_refresh();
  allowed = -1;
  return result;
}

static void the_first_refresh_fails_cleanly(void **state) {
  (void)state;
  long count = 0;
  enum unwind_end end;
  while (refresh_with(count) != 0) {
    assert_int_equal(walk_here(&end), 1);
    assert_int_equal(end, UNWIND_NO_MODULE);
    unwind_release();
    assert_int_equal(unwind_memory_bytes(), 0);
    count++;
  }
  print_message("%ld allocations\n", count);
  assert_in_range(count, 20, 100000);
  assert_in_range(walk_here(&end), 5, MAX_FRAMES);
  assert_int_equal(end, UNWIND_COMPLETE);
  unwind_release();
  assert_int_equal(unwind_memory_bytes(), 0);
}

/* Without starting anew: what one attempt has found, the next one uses. */
static void a_failed_refresh_can_be_repeated(void **state) {
  (void)state;
  for (long count = 0; refresh_with(count) != 0; count++)
    assert_in_range(count, 0, 1000);
  enum unwind_end end;
  assert_in_range(walk_here(&end), 5, MAX_FRAMES);
  assert_int_equal(end, UNWIND_COMPLETE);
  for (uint32_t number = 0; module_at(number) != NULL; number++)
    for (uint32_t other = 0; other < number; other++)
      assert_string_not_equal(module_at(number)->path, module_at(other)->path);
}

static void the_tables_in_force_stay(void **state) {
  (void)state;
  enum unwind_end end;
  size_t depth = walk_here(&end);
  void *library = dlopen(TEST_PLUGIN_ID, RTLD_NOW);
  assert_non_null(library);
  uintptr_t function = (uintptr_t)dlsym(library, "plugin_add");
  long count = 0;
  for (; refresh_with(count) != 0; count++) {
    assert_int_equal(walk_here(&end), depth);
    assert_int_equal(end, UNWIND_COMPLETE);
    assert_true(modules_changed());
  }
  assert_in_range(count, 3, 1000);
  assert_false(modules_changed());
  assert_non_null(module_find(function));
  assert_false(module_find(function)->unloaded);

  dlclose(library);
  for (count = 0; refresh_with(count) != 0; count++)
    assert_false(module_find(function)->unloaded);
  assert_true(module_find(function)->unloaded);
  unwind_release();
  assert_int_equal(unwind_memory_bytes(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_refresh_fails_cleanly),
      cmocka_unit_test(a_failed_refresh_can_be_repeated),
      cmocka_unit_test(the_tables_in_force_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
