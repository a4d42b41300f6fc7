#ifndef SAMPLER_LIVE_H
#define SAMPLER_LIVE_H

#include <stddef.h>
#include <stdint.h>

/* The sampled objects that were not freed yet, by address. */

/* Maps room for `count` objects, once and for the process's life. 0, or -1. */
int live_init(uint32_t count);

/* The serial of the object at an address, 0 when it is not there. Any thread. */
uint64_t live_find(uintptr_t address);

/* Calls `visit` for each object now in the map. Any thread. */
void live_visit(void (*visit)(void *context, uint64_t serial), void *context);

size_t live_bytes(void);

#endif
