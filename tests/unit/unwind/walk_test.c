/* Walks of ordinary stacks are those of libunwind and of glibc. */
#include "unwind/unwind.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "oracle.h"
#include "shapes.h"

enum {
  MAX_FRAMES = 400,
  DEEP = 10000,
  COROUTINE_BYTES = 1024 * 1024
};

static const struct unwind_stack unknown_stack = {0, 0};

static size_t visits;

/* The callers of the function in which both walks were made. */
static void assert_same_callers(const uintptr_t *ours, size_t our_count, const uintptr_t *theirs,
                                size_t their_count) {
  assert_int_equal(our_count, their_count);
  for (size_t i = 1; i < our_count; i++)
    if (ours[i] != theirs[i])
      fail_msg("frame %zu of %zu: %#zx, not %#zx", i, our_count, ours[i], theirs[i]);
}

__attribute__((noinline)) static long compare_here(void *context) {
  const struct unwind_stack *stacks = context; /* two of them */
  uintptr_t theirs[MAX_FRAMES];
  size_t their_count = oracle_walk(theirs, MAX_FRAMES);
  void *glibc[MAX_FRAMES];
  size_t glibc_count = (size_t)backtrace(glibc, MAX_FRAMES);
  assert_in_range(glibc_count, their_count, their_count + 1); /* ASan has a frame of its own */
  void **glibc_start = glibc + (glibc_count - their_count);
  for (size_t i = 0; i < 2; i++) {
    uintptr_t ours[MAX_FRAMES];
    enum unwind_end end;
    struct unwind_start start = unwind_here();
    size_t count = unwind_walk(&start, &stacks[i], ours, MAX_FRAMES, &end);
    assert_int_equal(end, UNWIND_COMPLETE);
    assert_int_equal(ours[0], start.pc);
    assert_same_callers(ours, count, theirs, their_count);
    assert_same_callers(ours, count, (uintptr_t *)(void *)glibc_start, their_count);
  }
  visits++;
  return 1;
}

static void run_all_shapes(void) {
  struct unwind_stack stacks[2] = {oracle_stack(), unknown_stack};
  size_t before = visits;
  for (size_t i = 0; i < shape_count; i++)
    for (long seed = 0; seed < 4; seed++)
      shapes[i].run(compare_here, stacks, seed);
  shape_jump(compare_here, stacks, 1);
  assert_in_range(visits - before, 4 * (shape_count - 1), SIZE_MAX);
}

static void every_shape_is_walked(void **state) {
  (void)state;
  run_all_shapes();
}

static void *run_in_thread(void *argument) {
  run_all_shapes();
  return argument;
}

static void threads_are_walked(void **state) {
  (void)state;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, run_in_thread, NULL), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

static void compare_at_exit(void) {
  struct unwind_stack stacks[2] = {oracle_stack(), unknown_stack};
  visits = 0;
  compare_here(stacks);
  _exit(visits == 1 ? 42 : 1);
}

static void exit_handlers_are_walked(void **state) {
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    unwind_after_fork();
    atexit(compare_at_exit);
    exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 42);
}

static ucontext_t main_context;
static ucontext_t coroutine_contexts[2];

static void run_coroutine(int number) {
  struct unwind_stack stacks[2] = {oracle_stack(), unknown_stack};
  for (size_t i = 0; i < shape_count; i++) {
    shapes[i].run(compare_here, stacks, 1);
    swapcontext(&coroutine_contexts[number], &coroutine_contexts[1 - number]);
  }
}

static void start_coroutine(int number, unsigned char *stack) {
  ucontext_t *context = &coroutine_contexts[number];
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = COROUTINE_BYTES;
  context->uc_link = &main_context;
  makecontext(context, (void (*)(void))run_coroutine, 1, number);
}

/* On stacks that nobody told the walk of, and not from the thread's own. */
static void coroutines_are_walked(void **state) {
  (void)state;
  unsigned char *stacks[2];
  size_t before = visits;
  for (int i = 0; i < 2; i++) {
    stacks[i] = malloc(COROUTINE_BYTES);
    assert_non_null(stacks[i]);
    start_coroutine(i, stacks[i]);
  }
  swapcontext(&main_context, &coroutine_contexts[0]);
  assert_in_range(visits - before, 2 * shape_count - 2, SIZE_MAX);
  free(stacks[0]);
  free(stacks[1]);
}

struct limited {
  uintptr_t pcs[DEEP + 200];
  size_t full_count;
};

static struct limited limited;

__attribute__((noinline)) static long walk_with_limits(void *context) {
  (void)context;
  static uintptr_t pcs[DEEP + 200];
  struct unwind_stack stack = oracle_stack();
  enum unwind_end end;
  struct unwind_start start = unwind_here();
  size_t full = unwind_walk(&start, &stack, limited.pcs, DEEP + 200, &end);
  assert_int_equal(end, UNWIND_COMPLETE);
  limited.full_count = full;
  const size_t limits[] = {1, 2, 3, 64, 128, 1000, full - 1, full};
  for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && limits[i] <= full; i++) {
    pcs[limits[i]] = 12345;
    assert_int_equal(unwind_walk(&start, &stack, pcs, limits[i], &end), limits[i]);
    assert_int_equal(end, limits[i] == full ? UNWIND_COMPLETE : UNWIND_TOO_DEEP);
    assert_memory_equal(pcs, limited.pcs, limits[i] * sizeof(pcs[0]));
    assert_int_equal(pcs[limits[i]], 12345);
  }
  pcs[0] = 12345;
  assert_int_equal(unwind_walk(&start, &stack, pcs, 0, &end), 0);
  assert_int_equal(pcs[0], 12345);
  return 1;
}

static void deep_stacks_are_cut(void **state) {
  (void)state;
  shape_recurse(walk_with_limits, NULL, 3);
  assert_in_range(limited.full_count, 8, 100);
  shape_recurse(walk_with_limits, NULL, DEEP);
  assert_in_range(limited.full_count, DEEP + 5, DEEP + 100);
}

static void wrong_registers_end_the_walk(void **state) {
  (void)state;
  struct unwind_stack stack = oracle_stack();
  struct unwind_start here = unwind_here();
  const uintptr_t values[] = {0,
                              1,
                              8,
                              4096,
                              stack.low,
                              stack.high,
                              here.pc,
                              here.sp,
                              here.sp + 1,
                              here.sp - 4096,
                              UINTPTR_MAX,
                              here.fp,
                              stack.high - 8,
                              (uintptr_t)1 << 62};
  const size_t count = sizeof(values) / sizeof(values[0]);
  for (size_t i = 0; i < count * count * count; i++) {
    struct unwind_start start = {.pc = here.pc,
                                 .sp = values[i % count],
                                 .fp = values[i / count % count],
                                 .bx = values[i / count / count],
                                 .context = values[i / count % count]};
    uintptr_t pcs[64];
    enum unwind_end end;
    size_t frames = unwind_walk(&start, i % 2 == 0 ? &stack : &unknown_stack, pcs, 64, &end);
    assert_in_range(frames, 1, 64);
    start.pc = values[i % count];
    frames = unwind_walk(&start, &stack, pcs, 64, &end);
    assert_in_range(frames, 1, 64);
  }
}

static void errno_is_kept(void **state) {
  (void)state;
  struct unwind_start start = unwind_here();
  uintptr_t pcs[64];
  enum unwind_end end;
  errno = EDOM;
  unwind_walk(&start, &unknown_stack, pcs, 64, &end);
  start.sp = 4096;
  start.fp = 4096;
  unwind_walk(&start, &unknown_stack, pcs, 64, &end);
  assert_int_equal(errno, EDOM);
  assert_int_equal(end, UNWIND_BAD_STACK);
}

/* As its declaration says, but for what sanitizers add. */
static void a_walk_needs_little_stack(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip();
#else
  static uintptr_t pcs[MAX_FRAMES];
  struct unwind_stack stack = oracle_stack();
  struct unwind_start start = unwind_here();
  enum {
    PAINTED = 4096
  };
  const struct unwind_stack *stacks[] = {&stack, &unknown_stack};
  for (size_t i = 0; i < 2; i++) {
    unsigned char *top = (unsigned char *)start.sp - 256; /* this call's own frame is above */
    enum unwind_end end;
    for (unsigned char *at = top - PAINTED; at < top; at++)
      *(volatile unsigned char *)at = 0x5a;
    unwind_walk(&start, stacks[i], pcs, MAX_FRAMES, &end);
    size_t untouched = 0;
    while (untouched < PAINTED && *(volatile unsigned char *)(top - PAINTED + untouched) == 0x5a)
      untouched++;
    print_message("%zu bytes of stack\n", PAINTED + 256 - untouched);
    assert_in_range(PAINTED + 256 - untouched, 200, 800);
    assert_int_equal(end, UNWIND_COMPLETE);
  }
#endif
}

static void without_tables_there_is_one_frame(void **state) {
  (void)state;
  struct unwind_stack stack = oracle_stack();
  struct unwind_start start = unwind_here();
  uintptr_t pcs[64];
  enum unwind_end end;
  unwind_release();
  assert_int_equal(unwind_walk(&start, &stack, pcs, 64, &end), 1);
  assert_int_equal(end, UNWIND_NO_MODULE);
  assert_int_equal(unwind_refresh(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape_is_walked),
      cmocka_unit_test(threads_are_walked),
      cmocka_unit_test(exit_handlers_are_walked),
      cmocka_unit_test(coroutines_are_walked),
      cmocka_unit_test(deep_stacks_are_cut),
      cmocka_unit_test(wrong_registers_end_the_walk),
      cmocka_unit_test(errno_is_kept),
      cmocka_unit_test(a_walk_needs_little_stack),
      cmocka_unit_test(without_tables_there_is_one_frame),
  };
  if (unwind_refresh() != 0)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
