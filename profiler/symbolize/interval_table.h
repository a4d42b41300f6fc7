#ifndef SYMBOLIZE_INTERVAL_TABLE_H
#define SYMBOLIZE_INTERVAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges of addresses, [start, end), which may lie inside one another or overlap. */
struct interval {
  uint64_t start, end;
  uint32_t rank;  /* of equal ranges, the lowest is found */
  uint32_t outer; /* the table's own */
  const void *value;
};

#define INTERVAL_NONE UINT32_MAX

struct interval_table {
  struct interval *items;
  uint32_t count, max;
  bool failed; /* memory ran out: something is missing */
};

void interval_table_fini(struct interval_table *table);

/* Adds a range; an empty one is left out. */
void interval_table_add(struct interval_table *table, uint64_t start, uint64_t end, uint32_t rank,
                        const void *value);

/* Sorts the table; to be called between the last range and the first search. */
void interval_table_seal(struct interval_table *table);

/*
 * The range that contains the address: of several the one that begins last, of these
 * the shortest. NULL when there is none.
 */
const struct interval *interval_table_find(const struct interval_table *table, uint64_t address);

/* The first of the ranges that begin at or after the address: its index, or the count. */
uint32_t interval_table_from(const struct interval_table *table, uint64_t address);

#endif
