#include "text_pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256U

struct text_entry {
  uint32_t hash;
  uint32_t length;
  char text[];
};

void text_pool_clear(struct text_pool *pool) {
  symbol_arena_clear(&pool->arena);
  free(pool->slots);
  *pool = (struct text_pool){0};
}

/* FNV-1a. */
static uint32_t hash_text(const char *text, size_t length) {
  uint32_t hash = UINT32_C(2166136261);
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT32_C(16777619);
  return hash;
}

static bool slots_grow(struct text_pool *pool) {
  uint32_t count = pool->slot_count == 0 ? FIRST_SLOTS : pool->slot_count * 2;
  struct text_entry **slots = calloc(count, sizeof(struct text_entry *));
  if (slots == NULL)
    return false;
  for (uint32_t i = 0; i < pool->slot_count; i++) {
    struct text_entry *entry = pool->slots[i];
    if (entry == NULL)
      continue;
    uint32_t at = entry->hash & (count - 1);
    while (slots[at] != NULL)
      at = (at + 1) & (count - 1);
    slots[at] = entry;
  }
  free(pool->slots);
  pool->slots = slots;
  pool->slot_count = count;
  return true;
}

static struct text_entry *entry_create(struct text_pool *pool, const char *text, size_t length,
                                       uint32_t hash) {
  struct text_entry *entry = symbol_arena_take(&pool->arena, sizeof(*entry) + length + 1);
  if (entry == NULL)
    return NULL;
  entry->hash = hash;
  entry->length = (uint32_t)length;
  memcpy(entry->text, text, length);
  entry->text[length] = '\0';
  return entry;
}

const char *text_pool_add(struct text_pool *pool, const char *text, size_t length) {
  if (pool->count >= pool->slot_count / 2 && !slots_grow(pool))
    return NULL;
  uint32_t hash = hash_text(text, length);
  uint32_t mask = pool->slot_count - 1;
  uint32_t at = hash & mask;
  for (; pool->slots[at] != NULL; at = (at + 1) & mask) {
    struct text_entry *entry = pool->slots[at];
    if (entry->hash == hash && entry->length == length && memcmp(entry->text, text, length) == 0)
      return entry->text;
  }
  struct text_entry *entry = entry_create(pool, text, length, hash);
  if (entry == NULL)
    return NULL;
  pool->slots[at] = entry;
  pool->count++;
  return entry->text;
}

size_t text_pool_memory_bytes(const struct text_pool *pool) {
  return pool->arena.bytes + pool->slot_count * sizeof(struct text_entry *);
}
