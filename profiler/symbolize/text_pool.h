#ifndef SYMBOLIZE_TEXT_POOL_H
#define SYMBOLIZE_TEXT_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"

/* Texts, each stored once, at a place that stays. */
struct text_entry;

struct text_pool {
  struct symbol_arena arena;
  struct text_entry **slots; /* open addressing */
  uint32_t slot_count, count;
};

/* A zeroed pool is an empty one; so is one after this. */
void text_pool_clear(struct text_pool *pool);

/* The text in the pool, or NULL when memory ran out. */
const char *text_pool_add(struct text_pool *pool, const char *text, size_t length);

size_t text_pool_memory_bytes(const struct text_pool *pool);

#endif
