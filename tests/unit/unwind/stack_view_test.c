#include "stack_view.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
  PAGE = 4096,
  WORD = sizeof(uintptr_t)
};

/* Three pages that hold their own addresses; the middle one is readable, those around it are not.
 */
static unsigned char *make_island(void) {
  unsigned char *pages =
      mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  for (size_t i = 0; i < 3 * PAGE; i += WORD) {
    uintptr_t address = (uintptr_t)pages + i;
    memcpy(pages + i, &address, WORD);
  }
  assert_int_equal(mprotect(pages, PAGE, PROT_NONE), 0);
  assert_int_equal(mprotect(pages + 2 * PAGE, PAGE, PROT_NONE), 0);
  return pages;
}

static void free_island(unsigned char *pages) {
  munmap(pages, 3 * PAGE);
}

/* Reads every word from one page before to one page behind the readable one. */
static void check_island(const struct unwind_stack *stack, uintptr_t sp) {
  uintptr_t start = sp / PAGE * PAGE;
  struct stack_view view;
  for (ptrdiff_t step = 1; step <= 7; step += 2) {
    stack_view_init(&view, stack, sp);
    for (uintptr_t address = start - PAGE; address < start + 2 * PAGE;
         address += (uintptr_t)step * WORD) {
      uintptr_t word = 1;
      bool readable = address >= start && address < start + PAGE;
      assert_int_equal(stack_view_read(&view, address, &word), readable);
      assert_int_equal(word, readable ? address : 1);
    }
  }
}

static void words_are_read_inside_and_outside_the_stack(void **state) {
  (void)state;
  unsigned char *pages = make_island();
  uintptr_t start = (uintptr_t)pages + PAGE;
  struct unwind_stack unknown = {0, 0};
  struct unwind_stack known = {start, start + PAGE};
  struct unwind_stack half = {start, start + PAGE / 2};
  for (uintptr_t sp = start; sp < start + PAGE; sp += 1000) {
    check_island(&unknown, sp);
    check_island(&known, sp);
    check_island(&half, sp);
  }
  free_island(pages);
}

/* A thread's stack is not mapped far below its stack pointer. */
static void nothing_is_loaded_far_below_the_stack_pointer(void **state) {
  (void)state;
  unsigned char *pages = make_island();
  uintptr_t start = (uintptr_t)pages + PAGE;
  struct unwind_stack generous = {start - PAGE, start + PAGE};
  for (uintptr_t sp = start; sp < start + PAGE; sp += 1000)
    check_island(&generous, sp);
  free_island(pages);
}

static void a_word_that_crosses_the_bound_is_not_loaded(void **state) {
  (void)state;
  unsigned char *pages = make_island();
  uintptr_t start = (uintptr_t)pages + PAGE;
  struct unwind_stack stack = {start, start + PAGE + WORD / 2};
  struct stack_view view;
  uintptr_t word;
  stack_view_init(&view, &stack, start);
  assert_true(stack_view_read(&view, start + PAGE - WORD, &word));
  assert_false(stack_view_read(&view, start + PAGE, &word));
  free_island(pages);
}

static void a_stack_is_loaded_from_once_it_was_seen_to_be_mapped(void **state) {
  (void)state;
  unsigned char *pages = make_island();
  uintptr_t start = (uintptr_t)pages + PAGE;
  struct unwind_stack stack = {start - PAGE, start + PAGE};
  struct stack_view view;
  uintptr_t word;
  stack_view_init(&view, &stack, 0x1000);
  assert_int_equal(view.low, 0);
  stack_view_move(&view, start - WORD);
  assert_int_equal(view.low, 0);
  stack_view_move(&view, start + 256);
  assert_int_equal(view.low, start + 256);
  assert_true(stack_view_read(&view, start + 8, &word));
  assert_int_equal(word, start + 8);
  assert_false(stack_view_read(&view, start - 8, &word));
  free_island(pages);
}

static void impossible_addresses_are_refused(void **state) {
  (void)state;
  uintptr_t word;
  uintptr_t own = (uintptr_t)&word;
  struct unwind_stack stacks[] = {{0, 0}, {own, own + 64}, {0, own + 64}, {own, own}};
  for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
    struct stack_view view;
    stack_view_init(&view, &stacks[i], own);
    assert_false(stack_view_read(&view, 0, &word));
    assert_false(stack_view_read(&view, 8, &word));
    assert_false(stack_view_read(&view, UINTPTR_MAX - 7, &word));
    assert_false(stack_view_read(&view, UINTPTR_MAX, &word));
    assert_false(stack_view_read(&view, (uintptr_t)1 << 62, &word));
    assert_false(stack_view_read(&view, own + 1, &word));
  }
}

static void errno_is_kept(void **state) {
  (void)state;
  struct unwind_stack unknown = {0, 0};
  struct stack_view view;
  uintptr_t word;
  stack_view_init(&view, &unknown, 0);
  errno = ERANGE;
  assert_false(stack_view_read(&view, 4096, &word));
  assert_int_equal(errno, ERANGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_read_inside_and_outside_the_stack),
      cmocka_unit_test(nothing_is_loaded_far_below_the_stack_pointer),
      cmocka_unit_test(a_word_that_crosses_the_bound_is_not_loaded),
      cmocka_unit_test(a_stack_is_loaded_from_once_it_was_seen_to_be_mapped),
      cmocka_unit_test(impossible_addresses_are_refused),
      cmocka_unit_test(errno_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
