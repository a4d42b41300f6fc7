#ifndef SYMBOLIZE_ARENA_H
#define SYMBOLIZE_ARENA_H

#include <stddef.h>

/* Memory that does not move and is freed all at once. */
struct symbol_arena_chunk;

struct symbol_arena {
  struct symbol_arena_chunk *chunks; /* the newest first */
  char *next;
  size_t left;
  size_t bytes; /* held in all */
};

/* A zeroed arena is an empty one; so is one after this. */
void symbol_arena_clear(struct symbol_arena *arena);

/* A piece for any type, not initialized; NULL when memory ran out. */
void *symbol_arena_take(struct symbol_arena *arena, size_t size);

#endif
