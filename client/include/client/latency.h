#ifndef CLIENT_LATENCY_H
#define CLIENT_LATENCY_H

#include <stdint.h>

/*
 * Below 64 ns every nanosecond has a bucket of its own; each of the 57 powers of
 * two from 2^6 to 2^62 is cut into 32 equal buckets.
 */
#define LATENCY_BUCKETS (64 + 57 * 32)

/*
 * A histogram of durations with a bounded relative error and a fixed size of
 * 15 KB: a quantile is never too low and at most 1/32 too high, the maximum is
 * exact. Zero-initialized is empty. Not synchronized.
 */
struct latency {
  uint64_t count;
  int64_t max_ns;
  uint64_t buckets[LATENCY_BUCKETS];
};

/* Adds one duration in nanoseconds; a negative one counts as 0. */
void latency_record(struct latency *latency, int64_t duration_ns);

/* Adds all of `from` to `into`. */
void latency_merge(struct latency *into, const struct latency *from);

/*
 * The duration that a share `quantile` (0 to 1) of the recorded ones do not
 * exceed, by the nearest-rank rule, in nanoseconds; 0 when empty.
 */
int64_t latency_quantile_ns(const struct latency *latency, double quantile);

#endif
