#include "interval_table.h"

#include <stdlib.h>

void interval_table_fini(struct interval_table *table) {
  free(table->items);
  *table = (struct interval_table){0};
}

static bool grow(struct interval_table *table) {
  uint32_t grown = table->max == 0 ? 32 : table->max * 2;
  if (grown > INTERVAL_NONE / 4)
    return false;
  struct interval *moved = reallocarray(table->items, grown, sizeof(*moved));
  if (moved == NULL)
    return false;
  table->items = moved;
  table->max = grown;
  return true;
}

void interval_table_add(struct interval_table *table, uint64_t start, uint64_t end, uint32_t rank,
                        const void *value) {
  if (start >= end)
    return;
  if (table->count == table->max && !grow(table)) {
    table->failed = true;
    return;
  }
  table->items[table->count++] = (struct interval){
      .start = start, .end = end, .rank = rank, .outer = INTERVAL_NONE, .value = value};
}

/* By start; of those with the same start the one to be found comes last. */
static int compare_intervals(const void *a, const void *b) {
  const struct interval *left = a;
  const struct interval *right = b;
  if (left->start != right->start)
    return left->start < right->start ? -1 : 1;
  if (left->end != right->end)
    return left->end > right->end ? -1 : 1;
  return left->rank > right->rank ? -1 : left->rank < right->rank;
}

void interval_table_seal(struct interval_table *table) {
  if (table->count > 0)
    qsort(table->items, table->count, sizeof(*table->items), compare_intervals);
  /*
   * An item's outer is the nearest one before it that reaches past its start. A search
   * that follows it skips only ranges that end before the address searched for.
   */
  for (uint32_t i = 0; i < table->count; i++) {
    uint32_t outer = i - 1; /* INTERVAL_NONE for the first */
    while (outer != INTERVAL_NONE && table->items[outer].end <= table->items[i].start)
      outer = table->items[outer].outer;
    table->items[i].outer = outer;
  }
}

uint32_t interval_table_from(const struct interval_table *table, uint64_t address) {
  uint32_t low = 0;
  uint32_t high = table->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (table->items[middle].start < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const struct interval *interval_table_find(const struct interval_table *table, uint64_t address) {
  if (table->count == 0 || address == UINT64_MAX)
    return NULL;
  uint32_t at = interval_table_from(table, address + 1) - 1;
  while (at != INTERVAL_NONE && table->items[at].end <= address)
    at = table->items[at].outer;
  return at != INTERVAL_NONE ? &table->items[at] : NULL;
}
