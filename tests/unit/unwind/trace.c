#include "trace.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "oracle.h"
#include "unwind/unwind.h"

enum {
  MAX_DEPTH = 512,
  MAX_KEPT = 12,
  MAX_KEPT_FRAMES = 6,
  TRAP_FLAG = 0x100,
  SIGNAL_STACK_BYTES = 128 * 1024
};

struct entry {
  uintptr_t slot; /* where the return address lies; UINTPTR_MAX: outside of the traced code */
  uintptr_t pc;
};

struct difference {
  size_t step;
  enum unwind_end end;
  size_t count, true_count;
  uintptr_t pcs[MAX_KEPT_FRAMES];
  uintptr_t true_pcs[MAX_KEPT_FRAMES];
};

static struct {
  pid_t thread;
  struct unwind_stack stack;
  struct entry entries[MAX_DEPTH]; /* outermost first */
  size_t depth;
  uintptr_t last_pc;
  uintptr_t last_sp;
  trace_excuse *excuse;
  struct difference kept[MAX_KEPT];
  struct trace_report report;
} trace;

/* The longest call instruction has 7 bytes, and prefixes before it. */
static bool is_call(uintptr_t from, uintptr_t return_address, uintptr_t pc) {
  return return_address - from >= 2 && return_address - from <= 9 && pc != return_address;
}

/* It reads wherever the stack pointer is. */
__attribute__((no_sanitize("address"))) static void follow(uintptr_t pc, uintptr_t sp) {
  uintptr_t top = *(const uintptr_t *)sp;
  if (trace.last_pc != 0 && sp == trace.last_sp - sizeof(uintptr_t) &&
      is_call(trace.last_pc, top, pc)) {
    assert(trace.depth < MAX_DEPTH);
    trace.entries[trace.depth++] = (struct entry){sp, top};
  }
  while (trace.depth > 0 && trace.entries[trace.depth - 1].slot < sp)
    trace.depth--;
  if (trace.depth > trace.report.deepest)
    trace.report.deepest = trace.depth;
  trace.last_pc = pc;
  trace.last_sp = sp;
}

static void keep(const uintptr_t *pcs, size_t count, enum unwind_end end) {
  if (trace.report.different > MAX_KEPT)
    return;
  struct difference *to = &trace.kept[trace.report.different - 1];
  *to = (struct difference){
      .step = trace.report.steps, .end = end, .count = count, .true_count = trace.depth + 1};
  for (size_t i = 0; i < count && i < MAX_KEPT_FRAMES; i++)
    to->pcs[i] = pcs[i];
  to->true_pcs[0] = pcs[0];
  for (size_t i = 1; i <= trace.depth && i < MAX_KEPT_FRAMES; i++)
    to->true_pcs[i] = trace.entries[trace.depth - i].pc;
}

static void print_pcs(const uintptr_t *pcs) {
  for (size_t i = 0; i < MAX_KEPT_FRAMES && pcs[i] != 0; i++) {
    Dl_info info = {.dli_fname = "?"};
    dladdr((const void *)pcs[i], &info);
    const char *slash = strrchr(info.dli_fname, '/');
    fprintf(stderr, " %s+%#zx(%s)", slash == NULL ? info.dli_fname : slash + 1,
            (size_t)(pcs[i] - (uintptr_t)info.dli_fbase),
            info.dli_sname == NULL ? "" : info.dli_sname);
  }
  fputc('\n', stderr);
}

void trace_print_differences(void) {
  for (size_t i = 0; i < trace.report.different && i < MAX_KEPT; i++) {
    const struct difference *difference = &trace.kept[i];
    fprintf(stderr, "step %zu, end %d: %zu frames of %zu:", difference->step, (int)difference->end,
            difference->count, difference->true_count);
    print_pcs(difference->pcs);
    fputs("  true:", stderr);
    print_pcs(difference->true_pcs);
  }
}

static bool is_true_stack(const uintptr_t *pcs, size_t count) {
  if (count != trace.depth + 1)
    return false;
  for (size_t i = 0; i < trace.depth; i++)
    if (pcs[count - 1 - i] != trace.entries[i].pc)
      return false;
  return true;
}

static void compare(const struct unwind_start *start) {
  uintptr_t pcs[MAX_DEPTH];
  enum unwind_end end;
  size_t count = unwind_walk(start, &trace.stack, pcs, MAX_DEPTH, &end);
  trace.report.steps++;
  if (end == UNWIND_COMPLETE && is_true_stack(pcs, count))
    return;
  if (trace.excuse != NULL && trace.excuse(start->pc)) {
    trace.report.excused++;
    return;
  }
  trace.report.different++;
  keep(pcs, count, end);
}

static void on_trap(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  ucontext_t *interrupted = context;
  if (gettid() != trace.thread) { /* it was created with the flag set */
    interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    return;
  }
  struct unwind_start start = unwind_interrupted(context);
  follow(start.pc, start.sp);
  compare(&start);
}

/* Enters the frames of the caller, which are outermost and stay. */
__attribute__((noinline)) static void note_outer_frames(uintptr_t slot) {
  uintptr_t pcs[MAX_DEPTH];
  size_t count = oracle_walk(pcs, MAX_DEPTH);
  /* pcs: this function, trace_run(), its caller, ... */
  trace.depth = 0;
  for (size_t i = count - 1; i >= 2; i--)
    trace.entries[trace.depth++] = (struct entry){i == 2 ? slot : UINTPTR_MAX, pcs[i]};
}

/* The red zone of the function around it is stepped over. */
#define CHANGE_FLAGS(instruction)                                                                  \
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\t" instruction                             \
                   "\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::                                        \
                       : "memory", "cc")

struct trace_report trace_run(void (*body)(void *), void *argument, trace_excuse *excuse) {
  static unsigned char signal_stack[SIGNAL_STACK_BYTES];
  stack_t alternate = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  stack_t stack_before;
  struct sigaction action_before;
  memset(&trace, 0, sizeof(trace));
  trace.thread = gettid();
  trace.excuse = excuse;
  trace.stack = oracle_stack();
  note_outer_frames((uintptr_t)__builtin_frame_address(0) + sizeof(uintptr_t));
  sigaltstack(&alternate, &stack_before);
  sigaction(SIGTRAP, &action, &action_before);
  CHANGE_FLAGS("orq $0x100, (%%rsp)");
  body(argument);
  CHANGE_FLAGS("andq $~0x100, (%%rsp)");
  sigaction(SIGTRAP, &action_before, NULL);
  sigaltstack(&stack_before, NULL);
  return trace.report;
}
