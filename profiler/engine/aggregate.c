#include "aggregate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Frames of the buckets, in blocks that never move. */
#define BLOCK_FRAMES 4096

struct block {
  struct block *next;
  size_t used;
  struct frame frames[BLOCK_FRAMES];
};

struct aggregate {
  uint32_t bucket_max;
  uint32_t count;
  uint32_t capacity;
  struct bucket *buckets;
  uint32_t table_size; /* a power of two, at least twice the capacity */
  uint32_t *table;     /* bucket numbers, 0 is free */
  struct block *blocks;
  size_t block_count;
};

/* xxHash's avalanche, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md */
static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9FB21C651E98DF25);
  return hash ^ (hash >> 29);
}

static uint64_t hash_of(const struct bucket_key *key) {
  uint64_t hash = mix(key->depth, key->size) + key->end;
  for (uint16_t i = 0; i < key->depth; i++) {
    hash = mix(hash, key->frames[i].address);
    hash = mix(hash, key->frames[i].module != NULL ? key->frames[i].module->number + 1 : 0);
  }
  for (int i = 0; i < LABELS_MAX; i++)
    hash = mix(hash, (uint64_t)key->labels[i].key << 16 | key->labels[i].value);
  return hash;
}

static bool same(const struct bucket_key *a, const struct bucket_key *b) {
  if (a->depth != b->depth || a->end != b->end || a->size != b->size ||
      memcmp(a->labels, b->labels, sizeof(a->labels)) != 0)
    return false;
  for (uint16_t i = 0; i < a->depth; i++) {
    if (a->frames[i].address != b->frames[i].address || a->frames[i].module != b->frames[i].module)
      return false;
  }
  return true;
}

static int grow(struct aggregate *aggregate) {
  uint32_t capacity = aggregate->capacity == 0 ? 256 : aggregate->capacity * 2;
  struct bucket *buckets = reallocarray(aggregate->buckets, capacity, sizeof(*aggregate->buckets));
  if (buckets == NULL)
    return -1;
  aggregate->buckets = buckets;
  uint32_t *table = calloc((size_t)capacity * 2, sizeof(*table));
  if (table == NULL)
    return -1;
  free(aggregate->table);
  aggregate->table = table;
  aggregate->table_size = capacity * 2;
  aggregate->capacity = capacity;
  for (uint32_t number = 1; number < aggregate->count; number++) {
    uint32_t place = (uint32_t)buckets[number].hash & (aggregate->table_size - 1);
    while (table[place] != 0)
      place = (place + 1) & (aggregate->table_size - 1);
    table[place] = number;
  }
  return 0;
}

struct aggregate *aggregate_create(uint32_t bucket_max) {
  struct aggregate *aggregate = calloc(1, sizeof(*aggregate));
  if (aggregate == NULL)
    return NULL;
  aggregate->bucket_max = bucket_max;
  if (grow(aggregate) != 0) {
    aggregate_destroy(aggregate);
    return NULL;
  }
  aggregate->buckets[0] = (struct bucket){0};
  aggregate->count = 1;
  return aggregate;
}

void aggregate_destroy(struct aggregate *aggregate) {
  if (aggregate == NULL)
    return;
  while (aggregate->blocks != NULL) {
    struct block *next = aggregate->blocks->next;
    free(aggregate->blocks);
    aggregate->blocks = next;
  }
  free(aggregate->buckets);
  free(aggregate->table);
  free(aggregate);
}

static struct frame *copy_frames(struct aggregate *aggregate, const struct frame *frames,
                                 size_t depth) {
  struct block *block = aggregate->blocks;
  if (block == NULL || BLOCK_FRAMES - block->used < depth) {
    block = malloc(sizeof(*block));
    if (block == NULL)
      return NULL;
    block->used = 0;
    block->next = aggregate->blocks;
    aggregate->blocks = block;
    aggregate->block_count++;
  }
  struct frame *copy = block->frames + block->used;
  if (depth > 0)
    memcpy(copy, frames, depth * sizeof(*frames));
  block->used += depth;
  return copy;
}

/* Appends a bucket; its number, or 0 when there is no room for it. */
static uint32_t append(struct aggregate *aggregate, const struct bucket_key *key, uint64_t hash) {
  if (aggregate->count > aggregate->bucket_max ||
      (aggregate->count == aggregate->capacity && grow(aggregate) != 0))
    return 0;
  struct frame *frames = copy_frames(aggregate, key->frames, key->depth);
  if (frames == NULL)
    return 0;
  struct bucket *bucket = &aggregate->buckets[aggregate->count];
  *bucket = (struct bucket){.key = *key, .hash = hash};
  bucket->key.frames = frames;
  return aggregate->count++;
}

uint32_t aggregate_find(struct aggregate *aggregate, const struct bucket_key *key) {
  uint64_t hash = hash_of(key);
  uint32_t mask = aggregate->table_size - 1;
  uint32_t place = (uint32_t)hash & mask;
  for (; aggregate->table[place] != 0; place = (place + 1) & mask) {
    const struct bucket *bucket = &aggregate->buckets[aggregate->table[place]];
    if (bucket->hash == hash && same(&bucket->key, key))
      return aggregate->table[place];
  }
  uint32_t table_size = aggregate->table_size;
  uint32_t number = append(aggregate, key, hash);
  if (number == 0)
    return 0;
  if (aggregate->table_size != table_size) { /* it grew: the free place is elsewhere now */
    mask = aggregate->table_size - 1;
    place = (uint32_t)hash & mask;
    while (aggregate->table[place] != 0)
      place = (place + 1) & mask;
  }
  aggregate->table[place] = number;
  return number;
}

struct bucket *aggregate_at(struct aggregate *aggregate, uint32_t number) {
  return &aggregate->buckets[number];
}

uint32_t aggregate_count(const struct aggregate *aggregate) {
  return aggregate->count;
}

size_t aggregate_bytes(const struct aggregate *aggregate) {
  return aggregate->capacity * sizeof(struct bucket) +
         aggregate->table_size * sizeof(*aggregate->table) +
         aggregate->block_count * sizeof(struct block);
}
