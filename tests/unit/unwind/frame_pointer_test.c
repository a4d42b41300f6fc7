/* The walk for machines without tables, on this one. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/unwind.h"

enum {
  MAX_FRAMES = 100,
  DEPTH = 20
};

static const struct unwind_stack unknown_stack = {0, 0};

static struct {
  uintptr_t pcs[MAX_FRAMES];
  size_t count;
  enum unwind_end end;
  uintptr_t returns_to[DEPTH + 1];
} seen;

static void walk(const struct unwind_start *start) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const struct unwind_stack stack = {here - 4096, here + 4096}; /* it goes on above that */
  seen.count = unwind_walk(start, &stack, seen.pcs, MAX_FRAMES, &seen.end);
  uintptr_t pcs[MAX_FRAMES];
  enum unwind_end end;
  assert_int_equal(unwind_walk(start, &unknown_stack, pcs, MAX_FRAMES, &end), seen.count);
  assert_int_equal(end, seen.end);
  assert_memory_equal(pcs, seen.pcs, seen.count * sizeof(pcs[0]));
  for (size_t max = 0; max < DEPTH; max++) {
    pcs[max] = 7;
    assert_int_equal(unwind_walk(start, &stack, pcs, max, &end), max);
    assert_int_equal(end, UNWIND_TOO_DEEP);
    assert_int_equal(pcs[max], 7);
  }
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  struct unwind_start start = unwind_interrupted(context);
  walk(&start);
}

/* Notes where each call returns to, then walks. */
// NOLINTNEXTLINE(misc-no-recursion)
__attribute__((noinline)) static long descend(unsigned depth, int by_signal) {
  seen.returns_to[depth] = (uintptr_t)__builtin_return_address(0);
  if (depth == DEPTH) {
    struct unwind_start start = unwind_here();
    if (by_signal)
      raise(SIGUSR1);
    else
      walk(&start);
    return 1;
  }
  return descend(depth + 1, by_signal) + 1;
}

static void assert_descent(size_t first) {
  assert_in_range(seen.count, DEPTH + 1, MAX_FRAMES);
  for (unsigned depth = 0; depth <= DEPTH; depth++)
    assert_int_equal(seen.pcs[first + DEPTH - depth], seen.returns_to[depth]);
}

static void frames_are_followed(void **state) {
  (void)state;
  assert_int_equal(descend(0, 0), DEPTH + 1);
  assert_descent(1);
}

static void interrupted_frames_are_followed(void **state) {
  (void)state;
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
  assert_int_equal(descend(0, 1), DEPTH + 1);
  size_t first = 0; /* raise() and what it calls keep no frame pointer: the chain skips them */
  while (first < seen.count && seen.pcs[first] != seen.returns_to[DEPTH])
    first++;
  assert_descent(first);
}

static void a_bad_frame_pointer_ends_the_walk(void **state) {
  (void)state;
  const uintptr_t values[] = {1, 8, 4096, UINTPTR_MAX, UINTPTR_MAX - 7};
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
    struct unwind_start start = unwind_here();
    start.fp = values[i];
    uintptr_t pcs[4];
    enum unwind_end end;
    assert_int_equal(unwind_walk(&start, &unknown_stack, pcs, 4, &end), 1);
    assert_int_equal(end, UNWIND_BAD_STACK);
  }
  uintptr_t loop[2] = {(uintptr_t)loop, (uintptr_t)descend};
  struct unwind_start start = unwind_here();
  start.fp = (uintptr_t)loop;
  uintptr_t pcs[4];
  enum unwind_end end;
  assert_int_equal(unwind_walk(&start, &unknown_stack, pcs, 4, &end), 1);
  assert_int_equal(end, UNWIND_BAD_STACK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_are_followed),
      cmocka_unit_test(interrupted_frames_are_followed),
      cmocka_unit_test(a_bad_frame_pointer_ends_the_walk),
  };
  if (unwind_refresh() != 0)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
