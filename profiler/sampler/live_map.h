#ifndef SAMPLER_LIVE_MAP_H
#define SAMPLER_LIVE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/live.h"

/*
 * Whether an object at this address may be in the map: a byte per hash, so that the free()
 * of an object that was not sampled costs one load. Inlined into free().
 */
#define LIVE_FILTER_BITS 16
extern atomic_uchar live_filter[1 << LIVE_FILTER_BITS];

static inline atomic_uchar *live_filter_of(const void *object) {
  uint64_t hash = ((uint64_t)(uintptr_t)object >> 4) * UINT64_C(0x9E3779B97F4A7C15);
  return &live_filter[hash >> (64 - LIVE_FILTER_BITS)];
}

static inline bool live_maybe(const void *object) {
  return atomic_load_explicit(live_filter_of(object), memory_order_relaxed) != 0;
}

/* Adds a sampled object that is not in the map. False: its part of the map is full.
 * Async-signal-safe. */
bool live_add(const void *object, uint64_t serial);

/* Takes an object out: its serial, or 0 when it is not in the map. Async-signal-safe. */
uint64_t live_remove(const void *object);

#endif
