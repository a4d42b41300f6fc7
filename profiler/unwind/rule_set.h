#ifndef UNWIND_RULE_SET_H
#define UNWIND_RULE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"
#include "pages.h"
#include "rule.h"

/* Collects the rules of one object in the order of its code. Zero-initialized it is empty. */
struct rule_set {
  struct page_buffer rows;  /* struct rule_row, offsets ascending, neighbours different */
  struct page_buffer wide;  /* struct wide_rule */
  struct page_buffer steps; /* struct expression_step */
  bool no_memory;           /* something is missing: do not use it */
};

/* The rule from `offset` on. Rows at and past `offset` that are there already are dropped. */
void rule_set_add(struct rule_set *set, uint32_t offset, packed_rule rule);

/* The packed form of a rule: short where it fits, else a wide one; RULE_NONE when there are too
 * many. */
packed_rule rule_set_pack(struct rule_set *set, const struct wide_rule *rule);

/*
 * Translates a DWARF expression that starts with `depth` words on its stack. Returns
 * where it stands as a place without its kind, or one of zero steps when it is not supported.
 */
struct place rule_set_expression(struct rule_set *set, struct cursor *program, size_t depth);

/* Empties the set for another object. */
void rule_set_clear(struct rule_set *set);

void rule_set_free(struct rule_set *set);

#endif
