#include "draw.h"

static uint64_t splitmix64(struct draw *draw) {
  uint64_t z = draw->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t draw_below(struct draw *draw, uint64_t bound) {
  /* 2^64 mod bound: with that many of the lowest numbers left out, every remainder is as likely. */
  uint64_t surplus = -bound % bound;
  uint64_t number;
  do {
    number = splitmix64(draw);
  } while (number < surplus);
  return number % bound;
}
