#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

/*
 * Takes the place of the C library's allocator for the whole program, libdw and
 * libelf included: the chosen allocation fails, and where wanted all that follow. Small
 * ones of libdw do not fail: it does not check them all, which is why the symbolizer
 * starts nothing when memory is short.
 */
enum {
  LIBDW_BLOCK_BYTES = 4000
};

static uintptr_t libdw_start, libdw_end;
static long allocations_left; /* the one that fails, counted from 1; 0 is none */
static bool fails_on;
static bool large_fail; /* those of 1 MiB or more */
static long failed;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static bool allocation_fails(size_t size, const void *caller) {
  bool is_libdw = (uintptr_t)caller >= libdw_start && (uintptr_t)caller < libdw_end;
  if (large_fail && size >= (size_t)1024 * 1024)
    return true;
  if (allocations_left == 0 || (is_libdw && size < LIBDW_BLOCK_BYTES))
    return false;
  if (allocations_left > 1) {
    allocations_left--;
    return false;
  }
  if (!fails_on)
    allocations_left = 0;
  failed++;
  return true;
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
  return allocation_fails(size, __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t nmemb, size_t size) {
  return allocation_fails(nmemb * size, __builtin_return_address(0)) ? NULL
                                                                     : __libc_calloc(nmemb, size);
}

__attribute__((visibility("default"))) void *realloc(void *ptr, size_t size) {
  return allocation_fails(size, __builtin_return_address(0)) ? NULL : __libc_realloc(ptr, size);
}

static int find_libdw(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (strstr(info->dlpi_name, "/libdw.so") == NULL)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
      libdw_start = info->dlpi_addr + segment->p_vaddr;
      libdw_end = libdw_start + segment->p_memsz;
    }
  }
  return 1;
}

/* Looks up marks in three files; how many were known. */
static size_t look_up(const uintptr_t *addresses) {
  static const char *const paths[] = {FIXTURES "/shapes", FIXTURES "/boxes",
                                      FIXTURES "/shapes_linked"};
  size_t known = 0;
  struct symbolizer *symbolizer = symbolizer_create(0);
  if (symbolizer == NULL)
    return 0;
  for (uint32_t i = 0; i < 3; i++) {
    struct symbol_object object = {.number = i, .path = paths[i], .build_id = ""};
    const struct symbol *symbol = symbolizer_find(symbolizer, &object, addresses[i]);
    known += symbol->known;
    for (size_t j = 0; j < symbol->line_count; j++) {
      if (symbol->lines[j].name == NULL || symbol->lines[j].file == NULL)
        abort();
    }
  }
  symbolizer_destroy(symbolizer);
  return known;
}

/* Nothing ends the process, and the next symbolizer finds everything. */
static void test_each_allocation_fails(void **state) {
  (void)state;
  const uintptr_t addresses[] = {
      fixture_symbol(FIXTURES "/shapes", "mark_innermost").start,
      fixture_symbol(FIXTURES "/boxes", "mark_anonymous_inline").start,
      fixture_symbol(FIXTURES "/shapes", "mark_outer").start,
  };
  assert_int_equal(dl_iterate_phdr(find_libdw, NULL), 1);
  assert_int_equal(look_up(addresses), 3);
  for (int mode = 0; mode < 2; mode++) {
    size_t with_failure = 0;
    for (long n = 1;; n++) {
      failed = 0;
      fails_on = mode == 1;
      allocations_left = n;
      size_t known = look_up(addresses);
      allocations_left = 0;
      if (failed == 0) {
        assert_int_equal(known, 3);
        break;
      }
      with_failure++;
    }
    assert_in_range(with_failure, 50, 100000);
    print_message("%zu allocations\n", with_failure);
  }
  assert_int_equal(look_up(addresses), 3);
}

/* libdw is not called at all. */
static void test_short_memory(void **state) {
  (void)state;
  const uintptr_t addresses[] = {
      fixture_symbol(FIXTURES "/shapes", "mark_innermost").start,
      fixture_symbol(FIXTURES "/boxes", "mark_anonymous_inline").start,
      fixture_symbol(FIXTURES "/shapes", "mark_outer").start,
  };
  large_fail = true;
  assert_int_equal(look_up(addresses), 0);
  large_fail = false;
  assert_int_equal(look_up(addresses), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_short_memory),
  };
  return cmocka_run_group_tests_name("symbolize_faults", tests, NULL, NULL);
}
