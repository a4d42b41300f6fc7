#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include <stdint.h>

/*
 * How the registers of a caller follow from those of its callee, on x86-64. The
 * canonical frame address (CFA) is what rsp was before the call.
 *
 * Nearly all code needs no more than: the CFA is rsp, rbp or rbx plus a constant; the
 * return address lies right below it; rbp and rbx are as they were, or saved some words
 * below it. Such a rule is packed into 32 bits. rbx is followed since ld.so's lazy
 * binding uses it as frame pointer; no code was found that calls on while its CFA
 * hangs on another register. All else is a wide rule.
 */
enum rule_kind {
  RULE_NONE,   /* nothing is known about the code */
  RULE_END,    /* the outermost function: it has no caller */
  RULE_SP,     /* CFA = rsp + offset */
  RULE_FP,     /* CFA = rbp + offset */
  RULE_BX,     /* CFA = rbx + offset */
  RULE_SIGNAL, /* returns from a signal handler: the kernel's ucontext_t lies at rsp */
  RULE_WIDE,   /* the wide rule of an index */
};

/*
 * Bits 0-2: the kind. Then for a wide rule its index; else bits 3-17: the CFA's offset in
 * words, 18-24 and 25-31: how many words below the CFA rbp and rbx are saved, 0 where
 * they are not.
 */
typedef uint32_t packed_rule;

enum {
  RULE_WORD_BYTES = 8,
  RULE_MAX_OFFSET_WORDS = (1 << 15) - 1,
  RULE_MAX_SAVED_WORDS = (1 << 7) - 1,
  RULE_MAX_WIDE = 4096, /* wide rules of one object: a limit for broken or odd ones */
};

static inline packed_rule rule_pack(enum rule_kind kind, uint32_t offset_words, uint32_t fp_words,
                                    uint32_t bx_words) {
  return (packed_rule)kind | offset_words << 3 | fp_words << 18 | bx_words << 25;
}

static inline packed_rule rule_pack_wide(uint32_t index) {
  return (packed_rule)RULE_WIDE | index << 3;
}

static inline enum rule_kind rule_kind(packed_rule rule) {
  return (enum rule_kind)(rule & 7);
}

static inline uint32_t rule_wide_index(packed_rule rule) {
  return rule >> 3;
}

static inline uintptr_t rule_offset(packed_rule rule) {
  return (uintptr_t)(rule >> 3 & RULE_MAX_OFFSET_WORDS) * RULE_WORD_BYTES;
}

/* How far below the CFA rbp is saved, 0 where it is not. */
static inline uintptr_t rule_fp_depth(packed_rule rule) {
  return (uintptr_t)(rule >> 18 & RULE_MAX_SAVED_WORDS) * RULE_WORD_BYTES;
}

static inline uintptr_t rule_bx_depth(packed_rule rule) {
  return (uintptr_t)(rule >> 25) * RULE_WORD_BYTES;
}

/* Numbers of registers in DWARF. */
enum {
  DWARF_BX = 3,
  DWARF_FP = 6,
  DWARF_SP = 7,
  DWARF_PC = 16,
  DWARF_REGISTERS = 17,
};

/* Where a wide rule finds one value. */
enum place_kind {
  PLACE_SAME,          /* the register was not touched */
  PLACE_LOST,          /* its value cannot be known */
  PLACE_AT_CFA,        /* saved at CFA + value */
  PLACE_CFA,           /* CFA + value */
  PLACE_REGISTER,      /* register + value */
  PLACE_AT_EXPRESSION, /* saved where an expression says */
  PLACE_EXPRESSION,    /* what an expression says */
};

struct place {
  uint8_t kind;
  uint8_t reg;
  uint16_t step_count; /* of an expression whose first step is `value` */
  int32_t value;
};

struct wide_rule {
  struct place cfa;
  struct place pc;
  struct place sp;
  struct place fp;
  struct place bx;
};

/* An expression is run on a stack of words; it has no jumps, and its depth is known to fit. */
enum {
  EXPRESSION_MAX_DEPTH = 4,
  EXPRESSION_MAX_STEPS = 32
};

enum expression_op {
  EXPRESSION_CONSTANT, /* pushes the operand */
  EXPRESSION_REGISTER, /* pushes register + operand */
  EXPRESSION_COPY,     /* pushes the top */
  EXPRESSION_ADD_CONSTANT,
  EXPRESSION_LOAD, /* the top is an address: puts the word there in its place */
  /* The others take two and push one. */
  EXPRESSION_ADD,
  EXPRESSION_SUBTRACT,
  EXPRESSION_MULTIPLY,
  EXPRESSION_AND,
  EXPRESSION_OR,
  EXPRESSION_XOR,
  EXPRESSION_SHIFT_LEFT,
  EXPRESSION_SHIFT_RIGHT,
  EXPRESSION_EQUAL,
  EXPRESSION_NOT_EQUAL,
  EXPRESSION_GREATER_EQUAL,
  EXPRESSION_GREATER,
  EXPRESSION_LESS_EQUAL,
  EXPRESSION_LESS,
};

struct expression_step {
  uint8_t op;
  uint8_t reg;
  uint16_t unused; /* zero, so that steps can be compared as bytes */
  int32_t operand;
};

/* A row of a table: the rule from `offset` on, up to the next row's offset. */
struct rule_row {
  uint32_t offset;
  packed_rule rule;
};

#endif
