#ifndef PPROF_INTERN_H
#define PPROF_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Byte strings, each stored once and known by its number: 0, 1, 2, ... in the order
 * in which they first came. A failed allocation is remembered in `failed`.
 */
struct intern_entry {
  size_t offset; /* in bytes[] */
  uint32_t size;
  uint32_t hash;
};

struct intern {
  uint8_t *bytes;
  size_t bytes_used, bytes_max;
  struct intern_entry *entries;
  uint32_t count, entries_max;
  uint32_t *slots; /* open addressing; number + 1, or 0 for an empty slot */
  uint32_t slot_count;
  bool failed;
};

/* No memory is taken before the first entry. */
void intern_init(struct intern *intern);

void intern_fini(struct intern *intern);

/*
 * The number of the entry with these bytes, added when it is new. UINT32_MAX when
 * memory ran out, or with 2^31 entries.
 */
uint32_t intern_add(struct intern *intern, const void *bytes, size_t size);

/* The bytes of an entry, valid until the next intern_add(). */
const uint8_t *intern_at(const struct intern *intern, uint32_t number, size_t *out_size);

#endif
