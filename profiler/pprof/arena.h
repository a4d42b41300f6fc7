#ifndef PPROF_ARENA_H
#define PPROF_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that is freed all at once, and no more than a given amount of it. */
struct pprof_arena_chunk;

struct pprof_arena {
  struct pprof_arena_chunk *chunks; /* the newest first */
  char *next;                       /* in the chunk that small pieces come from */
  size_t left;
  size_t budget;  /* bytes that may still be taken from the heap */
  bool exhausted; /* a piece was refused because of the budget, not by the heap */
};

void pprof_arena_init(struct pprof_arena *arena, size_t budget);

void pprof_arena_fini(struct pprof_arena *arena);

/* A piece for any type, not initialized; of 0 bytes too. NULL when there is no more. */
void *pprof_arena_take(struct pprof_arena *arena, size_t size);

/* The same for an array; NULL also when the product overflows. */
void *pprof_arena_take_array(struct pprof_arena *arena, size_t count, size_t element_bytes);

#endif
