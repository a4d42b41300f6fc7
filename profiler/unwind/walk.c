#include "unwind/unwind.h"

#include <ucontext.h>

#include "frame.h"

static enum unwind_end end_of(enum step step) {
  switch (step) {
  case STEP_END:
    return UNWIND_COMPLETE;
  case STEP_NO_MODULE:
    return UNWIND_NO_MODULE;
  case STEP_NO_RULE:
    return UNWIND_NO_RULE;
  default:
    return UNWIND_BAD_STACK;
  }
}

/* Goes to the caller by whatever way there is. */
static enum step step_any(struct walk *walk, struct frame *frame) {
  enum step step = step_by_rule(walk, frame);
  if ((step != STEP_NO_MODULE && step != STEP_NO_RULE) || !step_by_guess(walk, frame))
    return step;
  stack_view_move(&walk->view, frame->registers.sp);
  return STEP_CALLER;
}

size_t unwind_walk(const struct unwind_start *start, const struct unwind_stack *stack,
                   uintptr_t *pcs, size_t max, enum unwind_end *out_end) {
  *out_end = UNWIND_TOO_DEEP;
  if (max == 0)
    return 0;
  unsigned slot;
  struct walk walk;
  walk.snapshot = snapshot_enter(&slot);
  walk.trusted_links = 0;
  stack_view_init(&walk.view, stack, start->sp);

  struct frame frame = {.registers = *start, .interrupted = true};
  enum step step;
  size_t count = 1;
  pcs[0] = start->pc;
  while ((step = step_any(&walk, &frame)) == STEP_CALLER && count < max)
    pcs[count++] = frame.registers.pc + (frame.interrupted ? 1 : 0);
  if (step != STEP_CALLER)
    *out_end = end_of(step);
  snapshot_leave(slot);
  return count;
}

struct unwind_start unwind_interrupted(const void *context) {
  const ucontext_t *interrupted = context;
  const greg_t *registers = interrupted->uc_mcontext.gregs;
  return (struct unwind_start){
      .pc = (uintptr_t)registers[REG_RIP],
      .sp = (uintptr_t)registers[REG_RSP],
      .fp = (uintptr_t)registers[REG_RBP],
      .bx = (uintptr_t)registers[REG_RBX],
      .context = (uintptr_t)context,
  };
}
