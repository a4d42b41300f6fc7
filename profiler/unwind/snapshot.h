#ifndef UNWIND_SNAPSHOT_H
#define UNWIND_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "code_table.h"
#include "retired.h"

/* The code of one loaded object. */
struct region {
  uintptr_t start, end;
  const struct code_table *table; /* NULL: the object has no rules */
  uint32_t module;
};

/* What walks see: the loaded objects, sorted, immutable once published. */
struct snapshot {
  struct retired retired; /* first member */
  size_t count;
  struct region regions[];
};

/* The region that holds `address`, or NULL. Takes NULL for no snapshot. Async-signal-safe. */
const struct region *snapshot_find(const struct snapshot *snapshot, uintptr_t address);

/*
 * Holds the published snapshot, which may be NULL, and its tables in place until
 * snapshot_leave() with the same slot. Async-signal-safe, and may nest.
 */
const struct snapshot *snapshot_enter(unsigned *out_slot);
void snapshot_leave(unsigned slot);

#endif
