#ifndef SAMPLER_HEAP_SAMPLE_H
#define SAMPLER_HEAP_SAMPLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Puts a function into the section whose frames are not part of a sampled stack.
 * Never inlined, since its frame is told by its address.
 */
#define IN_HOOKS __attribute__((section("folio_hooks"), noinline))

/* Whether allocations are sampled: read by every hook. */
extern atomic_bool heap_enabled;

/* Defined beside the hooks, so that its address tells whether they are part of the program. */
extern const char heap_hooks_marker __attribute__((weak));

/*
 * The state of a thread's sampling, in thread-local storage of the initial-exec kind.
 * `left` falls by the bytes of each allocation; below zero a sampling point was met.
 */
struct heap_countdown {
  int64_t left;
  uint64_t random; /* state of the generator; 0: not seeded yet */
};

/*
 * Called when a thread's countdown fell below zero: draws the next distance, and
 * records the allocation, unless it is the countdown's first use. Keeps errno.
 */
void heap_sample(struct heap_countdown *countdown, void *object, size_t size);

/*
 * Sets the mean distance between sampling points, and the seed of the threads' generators (0 is
 * random). Before the first heap_sample().
 */
void heap_sample_set(uint64_t period, uint64_t seed_or_0);

#endif
