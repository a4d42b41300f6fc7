#include "cfi.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

/* DW_CFA_*: DWARF 5, 7.24; the GNU ones: Linux Standard Base Core 5.0, 10.5. */
enum {
  CFA_PRIMARY = 0xc0, /* these bits; the operand is in the others */
  CFA_ADVANCE = 0x40,
  CFA_OFFSET = 0x80,
  CFA_RESTORE = 0xc0,

  CFA_NOP = 0x00,
  CFA_SET_LOCATION = 0x01,
  CFA_ADVANCE1 = 0x02,
  CFA_ADVANCE2 = 0x03,
  CFA_ADVANCE4 = 0x04,
  CFA_OFFSET_EXTENDED = 0x05,
  CFA_RESTORE_EXTENDED = 0x06,
  CFA_UNDEFINED = 0x07,
  CFA_SAME_VALUE = 0x08,
  CFA_REGISTER = 0x09,
  CFA_REMEMBER = 0x0a,
  CFA_RESTORE_STATE = 0x0b,
  CFA_DEFINE = 0x0c,
  CFA_DEFINE_REGISTER = 0x0d,
  CFA_DEFINE_OFFSET = 0x0e,
  CFA_DEFINE_EXPRESSION = 0x0f,
  CFA_EXPRESSION = 0x10,
  CFA_OFFSET_SIGNED = 0x11,
  CFA_DEFINE_SIGNED = 0x12,
  CFA_DEFINE_OFFSET_SIGNED = 0x13,
  CFA_VALUE_OFFSET = 0x14,
  CFA_VALUE_OFFSET_SIGNED = 0x15,
  CFA_VALUE_EXPRESSION = 0x16,
  CFA_GNU_ARGS_SIZE = 0x2e,
  CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

enum {
  MAX_REMEMBERED = 16
};

struct machine {
  const struct cie *cie;
  struct rule_set *set;
  struct cursor program;
  struct wide_rule rule;        /* in force at `location` */
  struct wide_rule initial;     /* what the CIE's program left */
  struct wide_rule *remembered; /* MAX_REMEMBERED of them */
  size_t remembered_count;
  uintptr_t location;
  uintptr_t end; /* of the function */
  uintptr_t base;
  uint32_t limit;
  bool failed;
};

/* The place of a register that we follow; NULL for the others. */
static struct place *place_of(struct wide_rule *rule, uint64_t reg) {
  switch (reg) {
  case DWARF_BX:
    return &rule->bx;
  case DWARF_FP:
    return &rule->fp;
  case DWARF_SP:
    return &rule->sp;
  case DWARF_PC:
    return &rule->pc;
  default:
    return NULL;
  }
}

static int32_t narrow(struct machine *machine, int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX)
    machine->failed = true;
  return (int32_t)value;
}

/* An operand times the CIE's factor, which nobody has checked. */
static int32_t factored(struct machine *machine, int64_t operand) {
  int64_t product;
  if (__builtin_mul_overflow(operand, machine->cie->data_align, &product))
    machine->failed = true;
  return narrow(machine, machine->failed ? 0 : product);
}

static void set_place(struct machine *machine, uint64_t reg, enum place_kind kind, int32_t value) {
  struct place *place = place_of(&machine->rule, reg);
  if (place != NULL)
    *place = (struct place){.kind = (uint8_t)kind, .value = value};
}

static void set_to_register(struct machine *machine, uint64_t reg, uint64_t source) {
  struct place *place = place_of(&machine->rule, reg);
  if (place == NULL)
    return;
  *place = (struct place){.kind = PLACE_REGISTER, .reg = (uint8_t)source};
  if (source >= DWARF_REGISTERS)
    machine->failed = true;
}

static void set_to_expression(struct machine *machine, uint64_t reg, enum place_kind kind) {
  struct cursor program = cursor_part(&machine->program, cursor_uleb(&machine->program));
  struct place *place = place_of(&machine->rule, reg);
  if (place == NULL)
    return;
  *place = rule_set_expression(machine->set, &program, 1);
  place->kind = place->step_count == 0 ? PLACE_LOST : (uint8_t)kind;
}

static void restore(struct machine *machine, uint64_t reg) {
  struct place *place = place_of(&machine->rule, reg);
  if (place != NULL)
    *place = *place_of(&machine->initial, reg);
}

static void define(struct machine *machine, uint64_t reg, int32_t offset) {
  machine->rule.cfa = (struct place){.kind = PLACE_REGISTER, .reg = (uint8_t)reg, .value = offset};
  if (reg >= DWARF_REGISTERS)
    machine->failed = true;
}

static void define_expression(struct machine *machine) {
  struct cursor program = cursor_part(&machine->program, cursor_uleb(&machine->program));
  machine->rule.cfa = rule_set_expression(machine->set, &program, 0);
  machine->rule.cfa.kind = machine->rule.cfa.step_count == 0 ? PLACE_LOST : PLACE_EXPRESSION;
}

/* Whether the CFA is the rsp of a ucontext_t that lies at rsp, as in glibc's __restore_rt. */
static bool is_kernel_frame(const struct machine *machine) {
  const struct place *cfa = &machine->rule.cfa;
  if (!machine->cie->is_signal || cfa->kind != PLACE_EXPRESSION || cfa->step_count != 2)
    return false;
  const struct expression_step *steps =
      (const struct expression_step *)(void *)machine->set->steps.data + cfa->value;
  size_t sp_offset = offsetof(ucontext_t, uc_mcontext.gregs) + REG_RSP * sizeof(greg_t);
  return steps[0].op == EXPRESSION_REGISTER && steps[0].reg == DWARF_SP &&
         steps[0].operand == (int32_t)sp_offset && steps[1].op == EXPRESSION_LOAD;
}

static packed_rule pack(const struct machine *machine) {
  const struct wide_rule *rule = &machine->rule;
  if (is_kernel_frame(machine))
    return RULE_SIGNAL;
  if (rule->pc.kind == PLACE_LOST)
    return RULE_END;
  if (rule->cfa.kind == PLACE_LOST || machine->cie->is_signal)
    return RULE_NONE;
  return rule_set_pack(machine->set, rule);
}

static void add_row(struct machine *machine, packed_rule rule) {
  if (machine->location >= machine->base && machine->location - machine->base < machine->limit)
    rule_set_add(machine->set, (uint32_t)(machine->location - machine->base), rule);
}

/* Ends the range of the present rule at `location`. */
static void move_to(struct machine *machine, uintptr_t location) {
  if (location < machine->location || location > machine->end) {
    machine->failed = true;
    return;
  }
  if (location > machine->location)
    add_row(machine, pack(machine));
  machine->location = location;
}

static void advance(struct machine *machine, uint64_t units) {
  uint64_t distance;
  if (__builtin_mul_overflow(units, machine->cie->code_align, &distance) ||
      distance > machine->end - machine->location)
    machine->failed = true;
  else
    move_to(machine, machine->location + distance);
}

static void remember(struct machine *machine) {
  if (machine->remembered_count == MAX_REMEMBERED)
    machine->failed = true;
  else
    machine->remembered[machine->remembered_count++] = machine->rule;
}

static void restore_state(struct machine *machine) {
  if (machine->remembered_count == 0)
    machine->failed = true;
  else
    machine->rule = machine->remembered[--machine->remembered_count];
}

/* Instructions that move on, remember, or say nothing to us; false: another. */
static bool run_location(struct machine *machine, uint8_t op) {
  struct cursor *program = &machine->program;
  switch (op) {
  case CFA_NOP:
    return true;
  case CFA_SET_LOCATION:
    move_to(machine, cursor_pointer(program, machine->cie->pointer_encoding, 0));
    return true;
  case CFA_ADVANCE1:
    advance(machine, cursor_byte(program));
    return true;
  case CFA_ADVANCE2:
    advance(machine, cursor_number(program, 2));
    return true;
  case CFA_ADVANCE4:
    advance(machine, cursor_number(program, 4));
    return true;
  case CFA_REMEMBER:
    remember(machine);
    return true;
  case CFA_RESTORE_STATE:
    restore_state(machine);
    return true;
  case CFA_GNU_ARGS_SIZE:
    cursor_uleb(program);
    return true;
  default:
    return false;
  }
}

/* Changes the offset of a CFA that is a register and an offset. */
static void define_offset(struct machine *machine, int32_t offset) {
  if (machine->rule.cfa.kind != PLACE_REGISTER)
    machine->failed = true;
  else
    machine->rule.cfa.value = offset;
}

static void define_register(struct machine *machine, uint64_t reg) {
  if (machine->rule.cfa.kind != PLACE_REGISTER)
    machine->failed = true;
  else
    define(machine, reg, machine->rule.cfa.value);
}

/* Instructions that define the CFA; false: another. */
static bool run_cfa(struct machine *machine, uint8_t op) {
  struct cursor *program = &machine->program;
  uint64_t reg;
  switch (op) {
  case CFA_DEFINE:
    reg = cursor_uleb(program);
    define(machine, reg, narrow(machine, (int64_t)cursor_uleb(program)));
    return true;
  case CFA_DEFINE_SIGNED:
    reg = cursor_uleb(program);
    define(machine, reg, factored(machine, cursor_sleb(program)));
    return true;
  case CFA_DEFINE_REGISTER:
    define_register(machine, cursor_uleb(program));
    return true;
  case CFA_DEFINE_OFFSET:
    define_offset(machine, narrow(machine, (int64_t)cursor_uleb(program)));
    return true;
  case CFA_DEFINE_OFFSET_SIGNED:
    define_offset(machine, factored(machine, cursor_sleb(program)));
    return true;
  case CFA_DEFINE_EXPRESSION:
    define_expression(machine);
    return true;
  default:
    return false;
  }
}

/* Instructions that say where a register is; false: another. */
static bool run_register(struct machine *machine, uint8_t op) {
  struct cursor *program = &machine->program;
  if (op < CFA_OFFSET_EXTENDED || (op > CFA_VALUE_EXPRESSION && op != CFA_GNU_NEGATIVE_OFFSET))
    return false;
  uint64_t reg = cursor_uleb(program);
  switch (op) {
  case CFA_OFFSET_EXTENDED:
    set_place(machine, reg, PLACE_AT_CFA, factored(machine, (int64_t)cursor_uleb(program)));
    return true;
  case CFA_OFFSET_SIGNED:
    set_place(machine, reg, PLACE_AT_CFA, factored(machine, cursor_sleb(program)));
    return true;
  case CFA_GNU_NEGATIVE_OFFSET:
    set_place(machine, reg, PLACE_AT_CFA, factored(machine, (int64_t)(0 - cursor_uleb(program))));
    return true;
  case CFA_VALUE_OFFSET:
    set_place(machine, reg, PLACE_CFA, factored(machine, (int64_t)cursor_uleb(program)));
    return true;
  case CFA_VALUE_OFFSET_SIGNED:
    set_place(machine, reg, PLACE_CFA, factored(machine, cursor_sleb(program)));
    return true;
  case CFA_RESTORE_EXTENDED:
    restore(machine, reg);
    return true;
  case CFA_UNDEFINED:
    set_place(machine, reg, PLACE_LOST, 0);
    return true;
  case CFA_SAME_VALUE:
    set_place(machine, reg, PLACE_SAME, 0);
    return true;
  case CFA_REGISTER:
    set_to_register(machine, reg, cursor_uleb(program));
    return true;
  case CFA_EXPRESSION:
    set_to_expression(machine, reg, PLACE_AT_EXPRESSION);
    return true;
  case CFA_VALUE_EXPRESSION:
    set_to_expression(machine, reg, PLACE_EXPRESSION);
    return true;
  default:
    return false;
  }
}

static void run_one(struct machine *machine) {
  uint8_t op = cursor_byte(&machine->program);
  uint8_t operand = op & (uint8_t)~CFA_PRIMARY;
  switch (op & CFA_PRIMARY) {
  case CFA_ADVANCE:
    advance(machine, operand);
    return;
  case CFA_OFFSET:
    set_place(machine, operand, PLACE_AT_CFA,
              factored(machine, (int64_t)cursor_uleb(&machine->program)));
    return;
  case CFA_RESTORE:
    restore(machine, operand);
    return;
  default:
    if (!run_location(machine, op) && !run_cfa(machine, op) && !run_register(machine, op))
      machine->failed = true;
  }
}

static void run(struct machine *machine, struct cursor program) {
  machine->program = program;
  while (!machine->failed && machine->program.at < machine->program.end) {
    run_one(machine);
    machine->failed |= machine->program.failed;
  }
}

void cfi_compile(const struct cie *cie, const struct fde *fde, uintptr_t base, uint32_t limit,
                 struct rule_set *set) {
  struct wide_rule remembered[MAX_REMEMBERED];
  struct machine machine = {.cie = cie,
                            .set = set,
                            .remembered = remembered,
                            .location = fde->start,
                            .end = fde->end,
                            .base = base,
                            .limit = limit,
                            .failed = cie->return_register != DWARF_PC};
  machine.rule.cfa.kind = PLACE_LOST;
  machine.rule.sp.kind = PLACE_CFA;
  machine.rule.pc = (struct place){.kind = PLACE_AT_CFA, .value = -RULE_WORD_BYTES};
  machine.end = fde->start; /* a CIE's program has no code to move over */
  run(&machine, cie->program);
  machine.end = fde->end;
  machine.initial = machine.rule;
  run(&machine, fde->program);
  if (!machine.failed) {
    move_to(&machine, fde->end);
    return;
  }
  add_row(&machine, RULE_NONE);
}
