#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include <stdatomic.h>
#include <stdint.h>

#include "sampler/region.h"

/* What handlers and hooks share with the reader: where samples go, and what was lost. */
struct sampler {
  _Atomic(struct region *) region; /* NULL: nothing is recorded */
  atomic_uint_fast64_t cpu_samples;
  atomic_uint_fast64_t heap_samples;
  atomic_uint_fast64_t lost_buffer_full;
  atomic_uint_fast64_t lost_no_thread;
  atomic_uint_fast64_t lost_live_full;
  atomic_uint_fast64_t lost_nested; /* an allocation by a signal handler in the middle of a hook */
  atomic_uint_fast64_t truncated;
  atomic_uint_fast64_t incomplete;
  atomic_uint_fast64_t handler_ns;
};

extern struct sampler sampler;

/* Adds one, relaxed. Async-signal-safe. */
static inline void sampler_count(atomic_uint_fast64_t *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Counts how a walk ended. Async-signal-safe. */
void sampler_count_end(unsigned end);

#endif
