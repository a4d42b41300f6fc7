#ifndef UNWIND_FRAME_H
#define UNWIND_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot.h"
#include "stack_view.h"
#include "unwind/unwind.h"

/* One function on the stack. */
struct frame {
  struct unwind_start registers;
  bool interrupted; /* pc is where it stands, not where a call returns to */
};

/* A walk under way. */
struct walk {
  const struct snapshot *snapshot;
  struct stack_view view;
  unsigned trusted_links; /* how far the chain of frame pointers is known to be good: see guess.c */
};

/* All functions here are async-signal-safe. */

/* The address whose rule is the frame's: a return address may lie behind its function's end. */
static inline uintptr_t frame_address(const struct frame *frame) {
  return frame->registers.pc - (frame->interrupted ? 0 : 1);
}

/* A register by its number in DWARF; false when its value is not known. */
bool frame_register(const struct frame *frame, struct stack_view *view, unsigned number,
                    uintptr_t *out);

enum step {
  STEP_CALLER,    /* the frame is now its caller's */
  STEP_END,       /* it has no caller */
  STEP_NO_MODULE, /* the code is in no loaded object */
  STEP_NO_RULE,   /* the table has no rule for it */
  STEP_BAD_STACK,
};

/* Goes to the caller by the tables; otherwise than with STEP_CALLER the frame is unchanged. */
enum step step_by_rule(struct walk *walk, struct frame *frame);

/* Goes to a caller of a frame without a rule, if one can be found and is confirmed. */
bool step_by_guess(struct walk *walk, struct frame *frame);

#endif
