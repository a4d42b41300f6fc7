#include "evaluate.h"

static uintptr_t combine(enum expression_op op, uintptr_t left, uintptr_t right) {
  switch (op) {
  case EXPRESSION_ADD:
    return left + right;
  case EXPRESSION_SUBTRACT:
    return left - right;
  case EXPRESSION_MULTIPLY:
    return left * right;
  case EXPRESSION_AND:
    return left & right;
  case EXPRESSION_OR:
    return left | right;
  case EXPRESSION_XOR:
    return left ^ right;
  case EXPRESSION_SHIFT_LEFT:
    return right < 64 ? left << right : 0;
  case EXPRESSION_SHIFT_RIGHT:
    return right < 64 ? left >> right : 0;
  case EXPRESSION_EQUAL:
    return left == right;
  case EXPRESSION_NOT_EQUAL:
    return left != right;
  case EXPRESSION_GREATER_EQUAL:
    return (intptr_t)left >= (intptr_t)right;
  case EXPRESSION_GREATER:
    return (intptr_t)left > (intptr_t)right;
  case EXPRESSION_LESS_EQUAL:
    return (intptr_t)left <= (intptr_t)right;
  case EXPRESSION_LESS:
    return (intptr_t)left < (intptr_t)right;
  default:
    return 0;
  }
}

/* expression_translate() has seen to it that the stack neither overflows nor runs empty. */
static bool run(const struct expression_step *steps, size_t count, const struct frame *frame,
                struct stack_view *view, uintptr_t cfa, uintptr_t *out) {
  uintptr_t stack[EXPRESSION_MAX_DEPTH + 1] = {cfa};
  uintptr_t *top = stack;
  for (size_t i = 0; i < count; i++) {
    uintptr_t operand = (uintptr_t)(intptr_t)steps[i].operand;
    switch ((enum expression_op)steps[i].op) {
    case EXPRESSION_CONSTANT:
      *++top = operand;
      break;
    case EXPRESSION_REGISTER:
      if (!frame_register(frame, view, steps[i].reg, ++top))
        return false;
      *top += operand;
      break;
    case EXPRESSION_COPY:
      top[1] = top[0];
      top++;
      break;
    case EXPRESSION_ADD_CONSTANT:
      *top += operand;
      break;
    case EXPRESSION_LOAD:
      if (!stack_view_read(view, *top, top))
        return false;
      break;
    default:
      top--;
      *top = combine((enum expression_op)steps[i].op, top[0], top[1]);
      break;
    }
  }
  *out = *top;
  return true;
}

bool evaluate_place(const struct code_table *table, const struct place *place,
                    const struct frame *frame, struct stack_view *view, uintptr_t cfa,
                    uintptr_t same, uintptr_t *out) {
  uintptr_t value = (uintptr_t)(intptr_t)place->value;
  const struct expression_step *steps = table->steps + place->value;
  switch ((enum place_kind)place->kind) {
  case PLACE_SAME:
    *out = same;
    return true;
  case PLACE_LOST:
    *out = 0;
    return true;
  case PLACE_AT_CFA:
    return stack_view_read(view, cfa + value, out);
  case PLACE_CFA:
    *out = cfa + value;
    return true;
  case PLACE_REGISTER:
    if (!frame_register(frame, view, place->reg, out))
      return false;
    *out += value;
    return true;
  case PLACE_AT_EXPRESSION:
    return run(steps, place->step_count, frame, view, cfa, out) && stack_view_read(view, *out, out);
  case PLACE_EXPRESSION:
    return run(steps, place->step_count, frame, view, cfa, out);
  }
  return false;
}
