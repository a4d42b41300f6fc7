#ifndef CORPUS_PRNG_H
#define CORPUS_PRNG_H

#include <stdint.h>

/*
 * A pseudo-random sequence that is the same on every machine: splitmix64,
 * https://prng.di.unimi.it/splitmix64.c (public domain). The state is the seed.
 */
struct prng {
  uint64_t state;
};

uint64_t prng_next(struct prng *prng);

/* A number below `limit`, which is below 2^32. */
uint32_t prng_below(struct prng *prng, uint32_t limit);

#endif
