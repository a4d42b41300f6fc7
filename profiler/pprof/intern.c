#include "intern.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64U
#define MAX_ENTRIES (UINT32_C(1) << 31)

void intern_init(struct intern *intern) {
  *intern = (struct intern){0};
}

void intern_fini(struct intern *intern) {
  free(intern->bytes);
  free(intern->entries);
  free(intern->slots);
  *intern = (struct intern){0};
}

static uint32_t hash_bytes(const uint8_t *bytes, size_t size) {
  const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
  uint64_t hash = (uint64_t)size * odd;
  while (size > 0) {
    uint64_t word = 0;
    size_t step = size < sizeof(word) ? size : sizeof(word);
    memcpy(&word, bytes, step);
    hash = (hash ^ word) * odd;
    hash ^= hash >> 29;
    bytes += step;
    size -= step;
  }
  return (uint32_t)(hash >> 32);
}

/* Makes room for one more element; false when memory ran out. */
static bool grow(void **array, size_t element_bytes, size_t needed, size_t *max) {
  if (needed <= *max)
    return true;
  size_t grown = *max < 32 ? 64 : *max * 2;
  if (grown < needed)
    grown = needed;
  void *moved = reallocarray(*array, grown, element_bytes);
  if (moved == NULL)
    return false;
  *array = moved;
  *max = grown;
  return true;
}

/* The slot that holds the entry, or the empty one where it belongs. */
static uint32_t *slot_find(const struct intern *intern, const uint8_t *bytes, size_t size,
                           uint32_t hash) {
  uint32_t mask = intern->slot_count - 1;
  for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
    uint32_t *slot = &intern->slots[at];
    if (*slot == 0)
      return slot;
    const struct intern_entry *entry = &intern->entries[*slot - 1];
    if (entry->hash == hash && entry->size == size &&
        (size == 0 || memcmp(intern->bytes + entry->offset, bytes, size) == 0))
      return slot;
  }
}

static bool slots_grow(struct intern *intern) {
  uint32_t count = intern->slot_count == 0 ? FIRST_SLOTS : intern->slot_count * 2;
  uint32_t *slots = calloc(count, sizeof(*slots));
  if (slots == NULL)
    return false;
  for (uint32_t i = 0; i < intern->count; i++) {
    uint32_t at = intern->entries[i].hash & (count - 1);
    while (slots[at] != 0)
      at = (at + 1) & (count - 1);
    slots[at] = i + 1;
  }
  free(intern->slots);
  intern->slots = slots;
  intern->slot_count = count;
  return true;
}

static bool append(struct intern *intern, const uint8_t *bytes, size_t size, uint32_t hash) {
  void *store = intern->bytes;
  void *entries = intern->entries;
  size_t entries_max = intern->entries_max;
  if (size > UINT32_MAX || size > SIZE_MAX / 4 - intern->bytes_used)
    return false;
  if (!grow(&store, 1, intern->bytes_used + size, &intern->bytes_max))
    return false;
  intern->bytes = store;
  if (!grow(&entries, sizeof(*intern->entries), (size_t)intern->count + 1, &entries_max))
    return false;
  intern->entries = entries;
  intern->entries_max = (uint32_t)entries_max;
  intern->entries[intern->count++] =
      (struct intern_entry){.offset = intern->bytes_used, .size = (uint32_t)size, .hash = hash};
  if (size > 0)
    memcpy(intern->bytes + intern->bytes_used, bytes, size);
  intern->bytes_used += size;
  return true;
}

uint32_t intern_add(struct intern *intern, const void *bytes, size_t size) {
  uint32_t hash = hash_bytes(bytes, size);
  /* At most three quarters of the slots are taken. */
  if (intern->count >= intern->slot_count / 4 * 3 &&
      (intern->count >= MAX_ENTRIES / 2 || !slots_grow(intern))) {
    intern->failed = true;
    return UINT32_MAX;
  }
  uint32_t *slot = slot_find(intern, bytes, size, hash);
  if (*slot != 0)
    return *slot - 1;
  if (!append(intern, bytes, size, hash)) {
    intern->failed = true;
    return UINT32_MAX;
  }
  *slot = intern->count;
  return *slot - 1;
}

const uint8_t *intern_at(const struct intern *intern, uint32_t number, size_t *out_size) {
  const struct intern_entry *entry = &intern->entries[number];
  *out_size = entry->size;
  return intern->bytes + entry->offset;
}
