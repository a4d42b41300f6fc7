#include "sampler/heap.h"

#include <stddef.h>

#include "heap_sample.h"

atomic_bool heap_enabled;

void heap_start(uint64_t period, uint64_t seed) {
  heap_sample_set(period, seed);
  atomic_store_explicit(&heap_enabled, true, memory_order_release);
}

void heap_stop(void) {
  atomic_store_explicit(&heap_enabled, false, memory_order_release);
}

bool heap_hooked(void) {
  return &heap_hooks_marker != NULL;
}
