#include "client/latency.h"

#include <assert.h>
#include <stddef.h>

/* Values below 2^EXACT_BITS have a bucket each; above, an octave has 2^SUB_BITS. */
enum {
  EXACT_BITS = 6,
  EXACT_BUCKETS = 1 << EXACT_BITS,
  SUB_BITS = 5,
  SUB_BUCKETS = 1 << SUB_BITS,
};

static_assert(LATENCY_BUCKETS == EXACT_BUCKETS + (63 - EXACT_BITS) * SUB_BUCKETS,
              "every int64_t that is not negative has a bucket");

static size_t bucket_of(uint64_t value) {
  if (value < EXACT_BUCKETS)
    return value;
  int exponent = 63 - __builtin_clzll(value);
  size_t sub = (value >> (exponent - SUB_BITS)) - SUB_BUCKETS;
  return EXACT_BUCKETS + (size_t)(exponent - EXACT_BITS) * SUB_BUCKETS + sub;
}

/* The largest value that falls into the bucket. */
static int64_t bucket_top(size_t bucket) {
  if (bucket < EXACT_BUCKETS)
    return (int64_t)bucket;
  size_t above = bucket - EXACT_BUCKETS;
  size_t exponent = EXACT_BITS + above / SUB_BUCKETS;
  uint64_t next_sub = SUB_BUCKETS + above % SUB_BUCKETS + 1;
  return (int64_t)((next_sub << (exponent - SUB_BITS)) - 1);
}

void latency_record(struct latency *latency, int64_t duration_ns) {
  if (duration_ns < 0)
    duration_ns = 0;
  latency->count++;
  latency->buckets[bucket_of((uint64_t)duration_ns)]++;
  if (duration_ns > latency->max_ns)
    latency->max_ns = duration_ns;
}

void latency_merge(struct latency *into, const struct latency *from) {
  into->count += from->count;
  for (size_t i = 0; i < LATENCY_BUCKETS; i++)
    into->buckets[i] += from->buckets[i];
  if (from->max_ns > into->max_ns)
    into->max_ns = from->max_ns;
}

/* The nearest rank: the smallest whole number, 1 to `count`, that is not below quantile * count. */
static uint64_t rank_of(double quantile, uint64_t count) {
  double exact = quantile * (double)count;
  if (!(exact > 1))
    return 1;
  if (exact >= (double)count)
    return count;
  uint64_t floor = (uint64_t)exact;
  return (double)floor < exact ? floor + 1 : floor;
}

int64_t latency_quantile_ns(const struct latency *latency, double quantile) {
  if (latency->count == 0)
    return 0;
  uint64_t rank = rank_of(quantile, latency->count);
  size_t bucket = 0;
  for (uint64_t seen = latency->buckets[0]; seen < rank; seen += latency->buckets[bucket])
    bucket++;
  int64_t top = bucket_top(bucket);
  return top < latency->max_ns ? top : latency->max_ns;
}
