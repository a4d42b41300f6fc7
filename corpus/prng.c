#include "prng.h"

uint64_t prng_next(struct prng *prng) {
  uint64_t mixed = prng->state += UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ mixed >> 31;
}

uint32_t prng_below(struct prng *prng, uint32_t limit) {
  return (uint32_t)(((prng_next(prng) >> 32) * limit) >> 32);
}
