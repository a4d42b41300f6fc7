#ifndef CLIENT_DRAW_H
#define CLIENT_DRAW_H

#include <stdint.h>

/*
 * A sequence of random numbers that depends on the seed alone: the generator
 * splitmix64. Source: https://prng.di.unimi.it/splitmix64.c
 */
struct draw {
  uint64_t state; /* begins with the seed; any value will do */
};

/* The next number, each below `bound` (which is not 0) with the same probability. */
uint64_t draw_below(struct draw *draw, uint64_t bound);

#endif
