#ifndef SAMPLER_HEAP_H
#define SAMPLER_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Allocation samples. Bytes are a line along which sampling points lie by a Poisson
 * process of mean distance `period`; an allocation that covers one or more is
 * recorded. So an allocation of s bytes is recorded with the probability
 * 1 - exp(-s / period), and whoever sums weighs it by the inverse (docs/SAMPLING.md).
 */

/* Starts sampling with a mean distance of `period` bytes. Once live_init() and threads_init() are
 * done. */
void heap_start(uint64_t period, uint64_t seed);

/* Stops sampling; frees are still followed. */
void heap_stop(void);

/* Whether this program's malloc is Folio's, that is, whether there is anything to sample. */
bool heap_hooked(void);

/* The bytes between sampling points, as given to heap_start(). */
uint64_t heap_period(void);

#endif
