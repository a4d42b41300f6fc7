#ifndef BENCH_ALLOC_COUNTER_H
#define BENCH_ALLOC_COUNTER_H

#include <stdint.h>

/*
 * Counts every allocation of a program that links it, those of its libraries and of libc itself
 * included: alloc_counter.c takes the place of malloc() and its kin.
 */
struct alloc_count {
  uint64_t allocations; /* successful ones; a realloc() is one of its whole new size */
  uint64_t bytes;       /* as asked for */
};

/*
 * What all threads have allocated since the program's start. Any thread; of another thread's
 * allocations those are included that happened before, by a lock or the like.
 */
void alloc_counter_read(struct alloc_count *out);

#endif
