/*
 * What to do where no rule is: code that was generated at run time, hand-written assembly
 * without call frame information, the linkage table of some linkers, a call through a bad
 * pointer. Two guesses are made, and taken only when they are confirmed: they must lead to
 * a return address in a loaded object, and the rule there must lead on to another one, be
 * it over further frame pointers, or to the end of the stack.
 *
 * 1. Of an interrupted function only: it has pushed nothing, so the return address
 *    is at the stack pointer. True in leaf functions, linkage tables and at entries.
 * 2. It keeps a frame pointer, and so do its callers up to the first with a rule. When
 *    it does not, and the frame pointer is an outer function's, the callers between
 *    are missed.
 *
 * Whether a call instruction precedes the return address is not looked at: the code may
 * have been unmapped, or mapped without the right to read it.
 */
#include "frame.h"

#include "rule.h"

enum {
  MAX_LINKS = 64
};

/* Goes to the caller by the frame pointer, unconfirmed. */
static bool follow_link(struct walk *walk, struct frame *frame) {
  struct unwind_start caller = frame->registers;
  uintptr_t fp = frame->registers.fp;
  caller.context = 0;
  caller.sp = fp + 2 * (uintptr_t)RULE_WORD_BYTES;
  if (fp < frame->registers.sp || caller.sp < fp || !stack_view_read(&walk->view, fp, &caller.fp) ||
      !stack_view_read(&walk->view, fp + RULE_WORD_BYTES, &caller.pc) || caller.pc == 0)
    return false;
  *frame = (struct frame){.registers = caller};
  return true;
}

/* Follows links until the frame is one of a loaded object; returns how many, or -1. */
static int follow_to_module(struct walk *walk, struct frame *frame) {
  for (int links = 0; links <= MAX_LINKS; links++) {
    if (snapshot_find(walk->snapshot, frame_address(frame)) != NULL)
      return links;
    if (!follow_link(walk, frame))
      return -1;
  }
  return -1;
}

/* Whether the rule of a guessed frame leads on. */
static bool is_confirmed(struct walk *walk, const struct frame *guessed) {
  struct frame frame = *guessed;
  switch (step_by_rule(walk, &frame)) {
  case STEP_END:
    return true;
  case STEP_CALLER:
    return follow_to_module(walk, &frame) >= 0;
  default:
    return false;
  }
}

static bool guess_at_sp(struct walk *walk, struct frame *frame) {
  struct frame caller = {.registers = frame->registers};
  caller.registers.context = 0;
  caller.registers.sp += RULE_WORD_BYTES;
  if (!stack_view_read(&walk->view, frame->registers.sp, &caller.registers.pc) ||
      !is_confirmed(walk, &caller))
    return false;
  *frame = caller;
  return true;
}

/* How many links lead from the frame to one with a rule; 0 when they do not. */
static unsigned count_links(struct walk *walk, const struct frame *from) {
  struct frame frame = *from;
  if (!follow_link(walk, &frame))
    return 0;
  int more = follow_to_module(walk, &frame);
  return more >= 0 && is_confirmed(walk, &frame) ? (unsigned)more + 1 : 0;
}

bool step_by_guess(struct walk *walk, struct frame *frame) {
  if (walk->trusted_links == 0) {
    if (frame->interrupted && guess_at_sp(walk, frame))
      return true;
    walk->trusted_links = count_links(walk, frame);
  }
  if (walk->trusted_links == 0)
    return false;
  walk->trusted_links--;
  return follow_link(walk, frame);
}
