#include "code_table.h"

packed_rule code_table_find(const struct code_table *table, uint32_t offset) {
  uint32_t block = offset >> table->block_shift;
  uint32_t low = table->blocks[block];
  uint32_t high = table->blocks[block + 1];
  while (low < high) {
    uint32_t middle = high - (high - low) / 2;
    if (table->rows[middle].offset <= offset)
      low = middle;
    else
      high = middle - 1;
  }
  return table->rows[low].rule;
}
