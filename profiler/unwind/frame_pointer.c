/*
 * In place of walk.c where there are no tables: follows the chain of frame pointers, which
 * all code must then keep. A function that was interrupted before it has set up its
 * frame, and a leaf function without one, hide their caller.
 *
 * The frame pointer points at the caller's frame pointer and, one word above, the
 * return address (System V ABI of x86-64, Procedure Call Standard of AArch64); on RISC-V
 * both lie below it.
 */
#include "unwind/unwind.h"

#include <stdbool.h>
#include <ucontext.h>

#include "snapshot.h"
#include "stack_view.h"

#if defined(__riscv)
enum {
  SAVED_FP = -16,
  SAVED_PC = -8
};
#else
enum {
  SAVED_FP = 0,
  SAVED_PC = 8
};
#endif

/* A return address without the signature that AArch64 may keep in its high bits. */
static uintptr_t plain(uintptr_t pc) {
#if defined(__aarch64__)
  return pc & (((uintptr_t)1 << 48) - 1);
#else
  return pc;
#endif
}

static enum unwind_end step(struct stack_view *view, uintptr_t *pc, uintptr_t *fp) {
  uintptr_t caller_fp;
  uintptr_t caller_pc;
  if (*fp == 0)
    return UNWIND_COMPLETE;
  if (!stack_view_read(view, *fp + SAVED_FP, &caller_fp) ||
      !stack_view_read(view, *fp + SAVED_PC, &caller_pc))
    return UNWIND_BAD_STACK;
  if (caller_pc == 0)
    return UNWIND_COMPLETE;
  if (caller_fp != 0 && caller_fp <= *fp)
    return UNWIND_BAD_STACK;
  *fp = caller_fp;
  *pc = plain(caller_pc);
  return UNWIND_TOO_DEEP;
}

size_t unwind_walk(const struct unwind_start *start, const struct unwind_stack *stack,
                   uintptr_t *pcs, size_t max, enum unwind_end *out_end) {
  *out_end = UNWIND_TOO_DEEP;
  if (max == 0)
    return 0;
  struct stack_view view;
  stack_view_init(&view, stack, start->sp);
  uintptr_t pc = start->pc;
  uintptr_t fp = start->fp;
  unsigned slot;
  const struct snapshot *snapshot = snapshot_enter(&slot);
  size_t count = 1;
  pcs[0] = pc;
  enum unwind_end end;
  while ((end = step(&view, &pc, &fp)) == UNWIND_TOO_DEEP && count < max) {
    pcs[count++] = pc;
    if (snapshot_find(snapshot, pc - 1) == NULL) {
      end = UNWIND_NO_MODULE;
      break;
    }
    stack_view_move(&view, fp);
  }
  *out_end = end;
  snapshot_leave(slot);
  return count;
}

struct unwind_start unwind_interrupted(const void *context) {
  const ucontext_t *interrupted = context;
  struct unwind_start start = {.context = (uintptr_t)context};
#if defined(__x86_64__)
  const greg_t *registers = interrupted->uc_mcontext.gregs;
  start.pc = (uintptr_t)registers[REG_RIP];
  start.sp = (uintptr_t)registers[REG_RSP];
  start.fp = (uintptr_t)registers[REG_RBP];
#elif defined(__aarch64__)
  start.pc = (uintptr_t)interrupted->uc_mcontext.pc;
  start.sp = (uintptr_t)interrupted->uc_mcontext.sp;
  start.fp = (uintptr_t)interrupted->uc_mcontext.regs[29];
#elif defined(__riscv)
  start.pc = (uintptr_t)interrupted->uc_mcontext.__gregs[REG_PC];
  start.sp = (uintptr_t)interrupted->uc_mcontext.__gregs[REG_SP];
  start.fp = (uintptr_t)interrupted->uc_mcontext.__gregs[REG_S0];
#else
#error "Say here where a ucontext_t of this machine has its registers."
#endif
  return start;
}
