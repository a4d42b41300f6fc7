/* Walks through signal frames, from one stack to another, and through code without rules. */
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "assembly.h"
#include "oracle.h"
#include "shapes.h"
#include "unwind/unwind.h"

enum {
  MAX_FRAMES = 200,
  STACK_BYTES = 1024 * 1024
};

static const struct unwind_stack unknown_stack = {0, 0};

struct walked {
  uintptr_t pcs[MAX_FRAMES];
  size_t count;
  enum unwind_end end;
};

static struct walked walk_from(const struct unwind_start *start, const struct unwind_stack *stack) {
  struct walked walked;
  walked.count = unwind_walk(start, stack, walked.pcs, MAX_FRAMES, &walked.end);
  return walked;
}

/* The walks of the last visit: with the stack known and unknown, and libunwind's. */
static struct {
  struct unwind_stack stack;
  struct unwind_start start;
  struct walked known, unknown;
  uintptr_t theirs[MAX_FRAMES];
  size_t their_count;
} seen;

__attribute__((noinline)) static long see(void *context) {
  (void)context;
  seen.their_count = oracle_walk(seen.theirs, MAX_FRAMES);
  seen.start = unwind_here();
  seen.known = walk_from(&seen.start, &seen.stack);
  seen.unknown = walk_from(&seen.start, &unknown_stack);
  return 1;
}

/* Both walks are libunwind's, in which a frame that a signal interrupted has its own pc. */
static void assert_seen_like_libunwind(size_t signals) {
  const struct walked *walks[] = {&seen.known, &seen.unknown};
  for (size_t i = 0; i < 2; i++) {
    size_t interrupted = 0;
    assert_int_equal(walks[i]->end, UNWIND_COMPLETE);
    assert_int_equal(walks[i]->count, seen.their_count);
    for (size_t frame = 1; frame < seen.their_count; frame++) {
      interrupted += walks[i]->pcs[frame] == seen.theirs[frame] + 1;
      if (walks[i]->pcs[frame] - seen.theirs[frame] > 1)
        fail_msg("frame %zu: %#zx, not %#zx", frame, walks[i]->pcs[frame], seen.theirs[frame]);
    }
    assert_int_equal(interrupted, signals);
  }
}

static size_t signals_seen;

static void see_in_handler(int number) {
  (void)number;
  signals_seen++;
  see(NULL);
}

static void raise_in_handler(int number) {
  (void)number;
  signals_seen++;
  raise(SIGUSR2);
}

static void skip_trap(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  ucontext_t *interrupted = context;
  signals_seen++;
  see(NULL);
  interrupted->uc_mcontext.gregs[REG_RIP] += 2;
}

static long raise_first(void *context) {
  (void)context;
  raise(SIGUSR1);
  return 1;
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void handle_trap(int flags) {
  struct sigaction action = {.sa_sigaction = skip_trap, .sa_flags = SA_SIGINFO | flags};
  assert_int_equal(sigaction(SIGILL, &action, NULL), 0);
}

static void handlers_are_walked_through(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    bool nested = i % 2 != 0;
    int first_flags = i / 2 % 2 != 0 ? SA_ONSTACK : 0;
    int second_flags = i / 4 != 0 ? SA_ONSTACK : 0;
    handle(SIGUSR1, nested ? raise_in_handler : see_in_handler, first_flags);
    handle(SIGUSR2, see_in_handler, second_flags);
    for (size_t shape = 0; shape < shape_count; shape++) {
      signals_seen = 0;
      shapes[shape].run(raise_first, NULL, 1);
      assert_in_range(signals_seen, nested ? 2 : 1, SIZE_MAX);
      assert_seen_like_libunwind(nested ? 2 : 1);
    }
  }
}

/* Its rule begins at the instruction itself: one byte before, another one is in force. */
static void an_interrupted_entry_has_its_own_rule(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    handle_trap(i == 0 ? 0 : SA_ONSTACK);
    assembly_trap();
    assert_seen_like_libunwind(1);
    size_t frame = 0;
    while (frame < seen.known.count && seen.known.pcs[frame] != (uintptr_t)assembly_trap + 1)
      frame++;
    assert_in_range(frame, 1, seen.known.count - 2);
  }
}

static void a_leaf_without_rule_is_left_by_its_stack_pointer(void **state) {
  (void)state;
  handle_trap(0);
  signals_seen = 0;
  assembly_trap();
  struct walked with_rule = seen.known;
  assembly_trap_without_rule();
  assert_int_equal(signals_seen, 2);
  assert_int_equal(seen.known.end, UNWIND_COMPLETE);
  assert_int_equal(seen.known.count, with_rule.count);
  size_t last = with_rule.count - 1;
  for (size_t frame = last; with_rule.pcs[frame] != (uintptr_t)assembly_trap + 1; frame--) {
    size_t differs = with_rule.pcs[frame] != seen.known.pcs[frame];
    assert_in_range(differs, 0, 1); /* this function: the two calls stand at different places */
    assert_in_range(frame, 2, last);
  }
}

static void a_frame_without_rule_is_passed_by_its_frame_pointer(void **state) {
  (void)state;
  see(NULL);
  size_t direct = seen.known.count;
  assert_int_equal(assembly_call_without_rule(see, NULL), 1);
  assert_int_equal(seen.known.end, UNWIND_COMPLETE);
  assert_int_equal(seen.known.count, direct + 1);
  assert_int_equal(seen.unknown.count, direct + 1);
}

/* A call through a null pointer: the walk starts at 0, where no code is. */
static sigjmp_buf after_fault;

static void see_fault(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  struct unwind_start start = unwind_interrupted(context);
  seen.known = walk_from(&start, &seen.stack);
  siglongjmp(after_fault, 1);
}

static void a_call_to_nowhere_has_its_caller(void **state) {
  (void)state;
  see(NULL);
  size_t here = seen.known.count;
  struct sigaction action = {.sa_sigaction = see_fault, .sa_flags = SA_SIGINFO};
  assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
  void (*volatile nowhere)(void) = NULL;
  if (sigsetjmp(after_fault, 1) == 0)
    nowhere(); // NOLINT(clang-analyzer-core.CallAndMessage)
  signal(SIGSEGV, SIG_DFL);
  assert_int_equal(seen.known.pcs[0], 0);
  assert_int_equal(seen.known.end, UNWIND_COMPLETE);
  assert_int_equal(seen.known.count, here);
}

typedef long generated(long (*function)(void *), void *argument);

static generated *generate(const unsigned char *begin, const unsigned char *end) {
  unsigned char *page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(page, MAP_FAILED);
  memcpy(page, begin, (size_t)(end - begin));
  assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
  return (generated *)(uintptr_t)page;
}

static generated *generated_code;

static long see_through_generated(void *context) {
  return generated_code(see, context) + 1; /* a frame between the two */
}

static void generated_code_with_frame_pointers_is_passed(void **state) {
  (void)state;
  generated *code = generate(assembly_with_frame, assembly_with_frame_end);
  see(NULL);
  size_t direct = seen.known.count;
  code(see, NULL);
  assert_int_equal(seen.known.end, UNWIND_COMPLETE);
  assert_int_equal(seen.known.count, direct + 1);
  assert_int_equal(seen.known.pcs[1] / 4096, (uintptr_t)code / 4096);
  /* Generated code that calls generated code. */
  generated_code = generate(assembly_with_frame, assembly_with_frame_end);
  code(see_through_generated, NULL);
  assert_int_equal(seen.known.end, UNWIND_COMPLETE);
  assert_int_equal(seen.unknown.end, UNWIND_COMPLETE);
  assert_int_equal(seen.known.count, direct + 3);
  munmap((void *)(uintptr_t)generated_code, 4096);
  munmap((void *)(uintptr_t)code, 4096);
}

static long see_from_shape(void *context) {
  (void)context;
  return generated_code(see, NULL);
}

/* Nothing is made up where the chain of frame pointers does not lead on. */
static void generated_code_without_frame_pointers_ends_the_walk(void **state) {
  (void)state;
  generated_code = generate(assembly_without_frame, assembly_without_frame_end);
  uintptr_t page = (uintptr_t)generated_code;
  for (size_t i = 0; i < shape_count; i++) {
    shapes[i].run(see_from_shape, NULL, 1);
    assert_int_equal(seen.known.pcs[1] / 4096, page / 4096);
    if (seen.known.end != UNWIND_COMPLETE) {
      assert_int_equal(seen.known.end, UNWIND_NO_MODULE);
      assert_int_equal(seen.known.count, 2);
    }
  }
  munmap((void *)page, 4096);
}

static void a_switch_of_stacks_is_followed(void **state) {
  (void)state;
  unsigned char *other = malloc(STACK_BYTES);
  assert_non_null(other);
  assembly_switch_stack(see, NULL, (uintptr_t)other + STACK_BYTES);
  assert_seen_like_libunwind(0);
  handle(SIGUSR1, see_in_handler, SA_ONSTACK);
  assembly_switch_stack(raise_first, NULL, (uintptr_t)other + STACK_BYTES);
  assert_seen_like_libunwind(1);
  free(other);
}

/* From a stack above the thread's own, whose bounds must then be known. */
static void a_switch_downwards_leads_into_the_known_stack_only(void **state) {
  (void)state;
  static unsigned char low[STACK_BYTES];
  struct unwind_stack own = seen.stack;
  seen.stack = (struct unwind_stack){(uintptr_t)low, (uintptr_t)low + STACK_BYTES};
  struct unwind_start start = {.pc = (uintptr_t)assembly_switch_stack + 20,
                               .sp = own.high - 4096,
                               .fp = (uintptr_t)low + 1024};
  const uintptr_t frame[2] = {0, 0}; /* the saved frame pointer, and a return address of zero */
  memcpy(low + 1024, frame, sizeof(frame));
  assert_int_equal(walk_from(&start, &seen.stack).end, UNWIND_COMPLETE);
  const uintptr_t caller[2] = {0, (uintptr_t)assembly_trap + 1};
  memcpy(low + 1024, caller, sizeof(caller));
  assert_int_equal(walk_from(&start, &seen.stack).count, 2);
  assert_int_equal(walk_from(&start, &own).count, 1);
  assert_int_equal(walk_from(&start, &own).end, UNWIND_BAD_STACK);
  assert_int_equal(walk_from(&start, &unknown_stack).end, UNWIND_BAD_STACK);
  seen.stack = own;
}

static struct walked clone_walk;

/* It has no thread-local storage of its own. */
static void walk_in_clone(void *argument) {
  struct unwind_start start = unwind_here();
  clone_walk.count = unwind_walk(&start, argument, clone_walk.pcs, MAX_FRAMES, &clone_walk.end);
  syscall(SYS_exit, 0);
}

static void bare_clones_are_walked(void **state) {
  (void)state;
  static int running;
  unsigned char *bytes = malloc(STACK_BYTES);
  assert_non_null(bytes);
  struct unwind_stack stack = {(uintptr_t)bytes, (uintptr_t)bytes + STACK_BYTES};
  const struct unwind_stack *stacks[] = {&stack, &unknown_stack};
  for (size_t i = 0; i < 2; i++) {
    uintptr_t *top = (uintptr_t *)(void *)(bytes + STACK_BYTES - 64) - 3;
    top[0] = (uintptr_t)walk_in_clone;
    top[1] = (uintptr_t)stacks[i];
    top[2] = 0;
    atomic_store((_Atomic int *)&running, 1);
    unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                          CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    assert_in_range(assembly_clone(flags, top, NULL, &running), 1, INT_MAX);
    while (atomic_load((_Atomic int *)&running) != 0)
      syscall(SYS_futex, &running, FUTEX_WAIT, 1, NULL, NULL, 0);
    assert_int_equal(clone_walk.end, UNWIND_COMPLETE);
    assert_int_equal(clone_walk.count, 1);
  }
  free(bytes);
}

static int set_up(void **state) {
  (void)state;
  static unsigned char signal_stack[STACK_BYTES];
  stack_t alternate = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
  seen.stack = oracle_stack();
  return sigaltstack(&alternate, NULL) != 0 || unwind_refresh() != 0 ? -1 : 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handlers_are_walked_through),
      cmocka_unit_test(an_interrupted_entry_has_its_own_rule),
      cmocka_unit_test(a_leaf_without_rule_is_left_by_its_stack_pointer),
      cmocka_unit_test(a_frame_without_rule_is_passed_by_its_frame_pointer),
      cmocka_unit_test(a_call_to_nowhere_has_its_caller),
      cmocka_unit_test(generated_code_with_frame_pointers_is_passed),
      cmocka_unit_test(generated_code_without_frame_pointers_ends_the_walk),
      cmocka_unit_test(a_switch_of_stacks_is_followed),
      cmocka_unit_test(a_switch_downwards_leads_into_the_known_stack_only),
      cmocka_unit_test(bare_clones_are_walked),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
