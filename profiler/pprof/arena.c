#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

#define CHUNK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT alignof(max_align_t)

/* Larger pieces get a chunk of their own. */
#define SMALL_BYTES (CHUNK_BYTES / 8)

struct pprof_arena_chunk {
  struct pprof_arena_chunk *older;
  alignas(max_align_t) char bytes[];
};

void pprof_arena_init(struct pprof_arena *arena, size_t budget) {
  *arena = (struct pprof_arena){.budget = budget};
}

void pprof_arena_fini(struct pprof_arena *arena) {
  struct pprof_arena_chunk *chunk = arena->chunks;
  while (chunk != NULL) {
    struct pprof_arena_chunk *older = chunk->older;
    free(chunk);
    chunk = older;
  }
  *arena = (struct pprof_arena){0};
}

static char *chunk_add(struct pprof_arena *arena, size_t bytes) {
  size_t whole = sizeof(struct pprof_arena_chunk) + bytes;
  if (whole > arena->budget) {
    arena->exhausted = true;
    return NULL;
  }
  struct pprof_arena_chunk *chunk = malloc(whole);
  if (chunk == NULL)
    return NULL;
  arena->budget -= whole;
  chunk->older = arena->chunks;
  arena->chunks = chunk;
  return chunk->bytes;
}

void *pprof_arena_take(struct pprof_arena *arena, size_t size) {
  if (size > SIZE_MAX / 2) {
    arena->exhausted = true;
    return NULL;
  }
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (size > SMALL_BYTES)
    return chunk_add(arena, size);
  if (arena->next == NULL || size > arena->left) {
    char *bytes = chunk_add(arena, CHUNK_BYTES);
    if (bytes == NULL)
      return NULL;
    arena->next = bytes;
    arena->left = CHUNK_BYTES;
  }
  void *piece = arena->next;
  arena->next += size;
  arena->left -= size;
  return piece;
}

void *pprof_arena_take_array(struct pprof_arena *arena, size_t count, size_t element_bytes) {
  size_t size;
  if (__builtin_mul_overflow(count, element_bytes, &size)) {
    arena->exhausted = true;
    return NULL;
  }
  return pprof_arena_take(arena, size);
}
