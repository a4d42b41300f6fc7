#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

#define CHUNK_BYTES ((size_t)16 * 1024)
#define ALIGNMENT alignof(max_align_t)

struct symbol_arena_chunk {
  struct symbol_arena_chunk *older;
  alignas(max_align_t) char bytes[];
};

void symbol_arena_clear(struct symbol_arena *arena) {
  struct symbol_arena_chunk *chunk = arena->chunks;
  while (chunk != NULL) {
    struct symbol_arena_chunk *older = chunk->older;
    free(chunk);
    chunk = older;
  }
  *arena = (struct symbol_arena){0};
}

void *symbol_arena_take(struct symbol_arena *arena, size_t size) {
  if (size > SIZE_MAX / 4)
    return NULL;
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (arena->next == NULL || size > arena->left) {
    size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    struct symbol_arena_chunk *chunk = malloc(sizeof(*chunk) + room);
    if (chunk == NULL)
      return NULL;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    arena->bytes += sizeof(*chunk) + room;
    arena->next = chunk->bytes;
    arena->left = room;
  }
  void *piece = arena->next;
  arena->next += size;
  arena->left -= size;
  return piece;
}
