#ifndef UNWIND_CODE_TABLE_H
#define UNWIND_CODE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "eh_frame.h"
#include "pages.h"
#include "retired.h"
#include "rule.h"
#include "rule_set.h"

/*
 * The rules for the code of one object, immutable, in one mapping of its own. The code
 * is cut into blocks of 2^block_shift bytes; `blocks` holds, for each block and one more
 * at the end, the index of the row in force at its first byte, so that a look-up reads two
 * neighbours of it and the few rows between.
 */
struct code_table {
  struct retired retired; /* first member: the list of what waits to be freed */
  uint32_t code_bytes;
  uint32_t block_shift;
  uint32_t row_count; /* at least 1: the first row has offset 0 */
  const struct rule_row *rows;
  const uint32_t *blocks;
  const struct wide_rule *wide;
  const struct expression_step *steps;
};

/* Memory that building one table after the other can use again. Zero-initialized it is empty. */
struct code_table_builder {
  struct page_buffer functions; /* struct fde */
  struct page_buffer sorted;
  struct rule_set rules;
};

/*
 * Compiles a section for the code in [start, end). Returns 0 and sets *out, owned, or NULL
 * where the section has no rule for that code; -1 when memory ran out.
 */
int code_table_build(struct code_table_builder *builder, const struct eh_frame *frames,
                     uintptr_t start, uintptr_t end, struct code_table **out);

void code_table_builder_free(struct code_table_builder *builder);

/* Takes NULL. */
void code_table_free(struct code_table *table);

/* The rule for the byte of code at `offset`. Async-signal-safe. */
packed_rule code_table_find(const struct code_table *table, uint32_t offset);

#endif
