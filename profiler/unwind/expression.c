#include "expression.h"

#include <limits.h>

/* DW_OP_*: DWARF 5, 7.7.1. */
enum {
  OP_DEREF = 0x06,
  OP_CONST1U = 0x08,
  OP_CONST8S = 0x0f,
  OP_CONSTU = 0x10,
  OP_CONSTS = 0x11,
  OP_DUP = 0x12,
  OP_PLUS_UCONST = 0x23,
  OP_LIT0 = 0x30,
  OP_LIT31 = 0x4f,
  OP_BREG0 = 0x70,
  OP_BREG31 = 0x8f,
};

/* The operations that take two words and give one. */
static int binary_op(uint8_t op) {
  switch (op) {
  case 0x1a:
    return EXPRESSION_AND;
  case 0x1c:
    return EXPRESSION_SUBTRACT;
  case 0x1e:
    return EXPRESSION_MULTIPLY;
  case 0x21:
    return EXPRESSION_OR;
  case 0x22:
    return EXPRESSION_ADD;
  case 0x24:
    return EXPRESSION_SHIFT_LEFT;
  case 0x25:
    return EXPRESSION_SHIFT_RIGHT;
  case 0x27:
    return EXPRESSION_XOR;
  case 0x29:
    return EXPRESSION_EQUAL;
  case 0x2a:
    return EXPRESSION_GREATER_EQUAL;
  case 0x2b:
    return EXPRESSION_GREATER;
  case 0x2c:
    return EXPRESSION_LESS_EQUAL;
  case 0x2d:
    return EXPRESSION_LESS;
  case 0x2e:
    return EXPRESSION_NOT_EQUAL;
  default:
    return -1;
  }
}

/* The number behind DW_OP_const1u and its relatives: even ones are unsigned, sizes double. */
static int64_t constant(struct cursor *program, uint8_t op) {
  size_t bytes = (size_t)1 << (op - OP_CONST1U) / 2;
  uint64_t number = cursor_number(program, bytes);
  unsigned unused_bits = 64 - 8 * (unsigned)bytes;
  bool is_signed = (op - OP_CONST1U) % 2 != 0;
  return is_signed ? (int64_t)(number << unused_bits) >> unused_bits : (int64_t)number;
}

static bool translate_op(struct cursor *program, uint8_t op, struct expression_step *out,
                         size_t *needs) {
  int64_t operand = 0;
  *needs = 0;
  *out = (struct expression_step){.op = EXPRESSION_CONSTANT};
  if (op >= OP_LIT0 && op <= OP_LIT31) {
    operand = op - OP_LIT0;
  } else if (op >= OP_CONST1U && op <= OP_CONST8S) {
    operand = constant(program, op);
  } else if (op == OP_CONSTU) {
    operand = (int64_t)cursor_uleb(program);
  } else if (op == OP_CONSTS) {
    operand = cursor_sleb(program);
  } else if (op >= OP_BREG0 && op <= OP_BREG31) {
    out->op = EXPRESSION_REGISTER;
    out->reg = (uint8_t)(op - OP_BREG0);
    operand = cursor_sleb(program);
    if (out->reg >= DWARF_REGISTERS)
      return false;
  } else if (op == OP_DUP || op == OP_DEREF) {
    out->op = op == OP_DUP ? EXPRESSION_COPY : EXPRESSION_LOAD;
    *needs = 1;
  } else if (op == OP_PLUS_UCONST) {
    out->op = EXPRESSION_ADD_CONSTANT;
    operand = (int64_t)cursor_uleb(program);
    *needs = 1;
  } else {
    int binary = binary_op(op);
    if (binary < 0)
      return false;
    out->op = (uint8_t)binary;
    *needs = 2;
  }
  out->operand = (int32_t)operand;
  return operand >= INT32_MIN && operand <= INT32_MAX;
}

static size_t depth_after(uint8_t op, size_t depth) {
  if (op == EXPRESSION_CONSTANT || op == EXPRESSION_REGISTER || op == EXPRESSION_COPY)
    return depth + 1;
  return op == EXPRESSION_LOAD || op == EXPRESSION_ADD_CONSTANT ? depth : depth - 1;
}

size_t expression_translate(struct cursor *program, size_t depth,
                            struct expression_step steps[EXPRESSION_MAX_STEPS]) {
  size_t count = 0;
  while (program->at < program->end) {
    size_t needs;
    uint8_t op = cursor_byte(program);
    if (count == EXPRESSION_MAX_STEPS || !translate_op(program, op, &steps[count], &needs) ||
        needs > depth)
      return 0;
    depth = depth_after(steps[count].op, depth);
    if (depth > EXPRESSION_MAX_DEPTH)
      return 0;
    count++;
  }
  return program->failed || depth == 0 ? 0 : count;
}
