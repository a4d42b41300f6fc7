#include "frame.h"

#include <stddef.h>
#include <ucontext.h>

#include "code_table.h"
#include "evaluate.h"

/* Where a ucontext_t holds the registers, by their numbers in DWARF. */
static const unsigned char context_index[DWARF_REGISTERS] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

static bool read_context(struct stack_view *view, uintptr_t context, unsigned number,
                         uintptr_t *out) {
  uintptr_t registers = context + offsetof(ucontext_t, uc_mcontext.gregs);
  return stack_view_read(view, registers + context_index[number] * sizeof(greg_t), out);
}

bool frame_register(const struct frame *frame, struct stack_view *view, unsigned number,
                    uintptr_t *out) {
  switch (number) {
  case DWARF_SP:
    *out = frame->registers.sp;
    return true;
  case DWARF_FP:
    *out = frame->registers.fp;
    return true;
  case DWARF_BX:
    *out = frame->registers.bx;
    return true;
  case DWARF_PC:
    *out = frame->registers.pc;
    return true;
  default:
    return frame->registers.context != 0 &&
           read_context(view, frame->registers.context, number, out);
  }
}

/*
 * A caller's frame lies above its callee's. Only a stack switch may lead down: from some
 * other stack back into the thread's own.
 */
static bool leads_up(const struct stack_view *view, uintptr_t sp, uintptr_t caller_sp) {
  return caller_sp > sp || (stack_view_is_own(view, caller_sp) && !stack_view_is_own(view, sp));
}

static enum step go(struct walk *walk, struct frame *frame, const struct unwind_start *caller,
                    bool interrupted) {
  if (caller->pc == 0 && !interrupted)
    return STEP_END;
  *frame = (struct frame){.registers = *caller, .interrupted = interrupted};
  stack_view_move(&walk->view, caller->sp);
  return STEP_CALLER;
}

static enum step step_short(struct walk *walk, struct frame *frame, packed_rule rule) {
  struct unwind_start caller = frame->registers;
  caller.context = 0;
  switch (rule_kind(rule)) {
  case RULE_SP:
    break;
  case RULE_FP:
    caller.sp = frame->registers.fp;
    break;
  default:
    caller.sp = frame->registers.bx;
    break;
  }
  caller.sp += rule_offset(rule);
  if (!leads_up(&walk->view, frame->registers.sp, caller.sp))
    return STEP_BAD_STACK;
  uintptr_t fp_depth = rule_fp_depth(rule);
  uintptr_t bx_depth = rule_bx_depth(rule);
  if ((bx_depth != 0 && !stack_view_read(&walk->view, caller.sp - bx_depth, &caller.bx)) ||
      (fp_depth != 0 && !stack_view_read(&walk->view, caller.sp - fp_depth, &caller.fp)) ||
      !stack_view_read(&walk->view, caller.sp - RULE_WORD_BYTES, &caller.pc))
    return STEP_BAD_STACK;
  return go(walk, frame, &caller, false);
}

static enum step step_wide(struct walk *walk, struct frame *frame, const struct code_table *table,
                           const struct wide_rule *rule) {
  const struct unwind_start *from = &frame->registers;
  struct stack_view *view = &walk->view;
  struct unwind_start caller = {0};
  uintptr_t cfa;
  if (!evaluate_place(table, &rule->cfa, frame, view, 0, 0, &cfa) ||
      !evaluate_place(table, &rule->bx, frame, view, cfa, from->bx, &caller.bx) ||
      !evaluate_place(table, &rule->fp, frame, view, cfa, from->fp, &caller.fp) ||
      !evaluate_place(table, &rule->pc, frame, view, cfa, from->pc, &caller.pc) ||
      !evaluate_place(table, &rule->sp, frame, view, cfa, from->sp, &caller.sp))
    return STEP_BAD_STACK;
  bool switches_stack = rule->sp.kind != PLACE_CFA; /* longjmp, setcontext: in any direction */
  if (!switches_stack && !leads_up(view, from->sp, caller.sp))
    return STEP_BAD_STACK;
  return go(walk, frame, &caller, false);
}

/* The frame is glibc's __restore_rt, which the kernel made a handler return to. */
static enum step step_signal(struct walk *walk, struct frame *frame) {
  struct stack_view *view = &walk->view;
  struct unwind_start caller = {.context = frame->registers.sp};
  if (!read_context(view, caller.context, DWARF_PC, &caller.pc) ||
      !read_context(view, caller.context, DWARF_SP, &caller.sp) ||
      !read_context(view, caller.context, DWARF_FP, &caller.fp) ||
      !read_context(view, caller.context, DWARF_BX, &caller.bx))
    return STEP_BAD_STACK;
  return go(walk, frame, &caller, true);
}

/*
 * Whether code without a rule ends and a function begins right where the frame returns to.
 * No call stands there: the address was planted as the bottom of a stack, as makecontext()
 * does.
 */
static bool is_planted(const struct code_table *table, const struct frame *frame, uint32_t offset) {
  return !frame->interrupted && offset + 1 < table->code_bytes &&
         rule_kind(code_table_find(table, offset + 1)) != RULE_NONE;
}

enum step step_by_rule(struct walk *walk, struct frame *frame) {
  uintptr_t address = frame_address(frame);
  const struct region *region = snapshot_find(walk->snapshot, address);
  if (region == NULL)
    return STEP_NO_MODULE;
  const struct code_table *table = region->table;
  if (table == NULL)
    return STEP_NO_RULE;
  uint32_t offset = (uint32_t)(address - region->start);
  packed_rule rule = code_table_find(table, offset);
  switch (rule_kind(rule)) {
  case RULE_NONE:
    return is_planted(table, frame, offset) ? STEP_END : STEP_NO_RULE;
  case RULE_END:
    return STEP_END;
  case RULE_SIGNAL:
    return step_signal(walk, frame);
  case RULE_WIDE:
    return step_wide(walk, frame, table, &table->wide[rule_wide_index(rule)]);
  default:
    return step_short(walk, frame, rule);
  }
}
