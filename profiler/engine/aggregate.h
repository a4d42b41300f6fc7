#ifndef ENGINE_AGGREGATE_H
#define ENGINE_AGGREGATE_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/region.h"
#include "unwind/modules.h"

/* Sums of samples by stack, labels and object size, within a bound. Not synchronized. */
struct aggregate;

/* An instruction: a return address is already one byte back, inside its call. */
struct frame {
  const struct module *module; /* NULL: in no known object */
  uintptr_t address;
};

/* What samples are told apart by. */
struct bucket_key {
  const struct frame *frames; /* innermost first */
  uint16_t depth;
  uint8_t end;   /* enum unwind_end */
  uint64_t size; /* bytes of each object; 0 for CPU samples */
  struct label_pair labels[LABELS_MAX];
};

/* CPU: ticks and nanoseconds. Heap: allocated objects and bytes, objects and bytes in use. */
#define VALUES_MAX 4

struct bucket {
  struct bucket_key key;
  uint64_t hash;
  double values[VALUES_MAX];
};

/* At most `bucket_max` different buckets; what comes later is summed in bucket 0, which has no
 * stack. */
struct aggregate *aggregate_create(uint32_t bucket_max);

/* Takes NULL. */
void aggregate_destroy(struct aggregate *aggregate);

/* The number of the bucket of a key, made if it is new (the key is copied); 0 when there is no
 * room. */
uint32_t aggregate_find(struct aggregate *aggregate, const struct bucket_key *key);

/* By number, up to aggregate_count() - 1. Valid until the next aggregate_find(). */
struct bucket *aggregate_at(struct aggregate *aggregate, uint32_t number);
uint32_t aggregate_count(const struct aggregate *aggregate);

size_t aggregate_bytes(const struct aggregate *aggregate);

#endif
