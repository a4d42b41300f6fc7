/*
 * Design notes
 *
 * `head` and `tail` count bytes since the start and never wrap in practice; the
 * place in the ring is the count modulo the capacity. A writer takes room by
 * moving `head` with a compare-and-swap, so that a signal handler that interrupts
 * a writer simply takes the room behind it. A record does not straddle the ring's end:
 * the writer that meets it takes the rest as padding too.
 *
 * A record's `ready` word is 0 while it is written. Publishing stores its length
 * (release), which the reader loads (acquire). The reader zeroes what it has
 * read and only then moves `tail` (release), which a writer loads (acquire) before
 * it takes the room: so every record starts out as zero, and a reader never
 * takes an old word for a new one.
 */
#include "sampler/region.h"

#include <string.h>
#include <sys/mman.h>

/* Records are multiples of this, and so is the padding: it has room for `ready` and `kind`. */
#define UNIT 64

struct region {
  size_t capacity; /* of the ring, a power of two of at least 64 KiB */
  size_t mapped_bytes;
  _Alignas(64) atomic_uint_fast64_t head;
  _Alignas(64) atomic_uint_fast64_t tail;
  _Alignas(64) unsigned char ring[];
};

struct region *region_create(size_t bytes) {
  size_t capacity = 64 * 1024;
  while (capacity < bytes && capacity < SIZE_MAX / 4)
    capacity *= 2;
  size_t mapped_bytes = sizeof(struct region) + capacity;
  void *memory =
      mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  struct region *region = memory;
  region->capacity = capacity;
  region->mapped_bytes = mapped_bytes;
  return region;
}

void region_destroy(struct region *region) {
  if (region != NULL)
    munmap(region, region->mapped_bytes);
}

static struct record *record_at(struct region *region, uint64_t position) {
  return (struct record *)(void *)(region->ring + (position & (region->capacity - 1)));
}

static size_t record_bytes(size_t depth) {
  size_t bytes = sizeof(struct record) + depth * sizeof(uintptr_t);
  return (bytes + UNIT - 1) / UNIT * UNIT;
}

struct record *region_reserve(struct region *region, size_t depth) {
  size_t bytes = record_bytes(depth);
  uint64_t head;
  size_t padding;
  do {
    /* The tail first: a head read before it could be behind it. */
    uint64_t tail = atomic_load_explicit(&region->tail, memory_order_acquire);
    head = atomic_load_explicit(&region->head, memory_order_relaxed);
    size_t rest = region->capacity - (head & (region->capacity - 1));
    padding = rest < bytes ? rest : 0;
    if (head + padding + bytes - tail > region->capacity)
      return NULL;
  } while (!atomic_compare_exchange_weak_explicit(&region->head, &head, head + padding + bytes,
                                                  memory_order_relaxed, memory_order_relaxed));
  if (padding != 0) {
    struct record *skipped = record_at(region, head);
    skipped->kind = RECORD_PADDING;
    atomic_store_explicit(&skipped->ready, (unsigned)padding, memory_order_release);
  }
  struct record *record = record_at(region, head + padding);
  record->depth = (uint16_t)depth;
  return record;
}

void region_publish(struct record *record) {
  atomic_store_explicit(&record->ready, (unsigned)record_bytes(record->depth),
                        memory_order_release);
}

/* Zeroes the record at the tail and moves past it. */
static void pass(struct region *region, struct record *record, unsigned bytes) {
  memset((unsigned char *)record + sizeof(record->ready), 0, bytes - sizeof(record->ready));
  atomic_store_explicit(&record->ready, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&region->tail, bytes, memory_order_release);
}

const struct record *region_peek(struct region *region) {
  for (;;) {
    uint64_t tail = atomic_load_explicit(&region->tail, memory_order_relaxed);
    struct record *record = record_at(region, tail);
    unsigned bytes = atomic_load_explicit(&record->ready, memory_order_acquire);
    if (bytes == 0)
      return NULL;
    if (record->kind != RECORD_PADDING)
      return record;
    pass(region, record, bytes);
  }
}

void region_consume(struct region *region) {
  uint64_t tail = atomic_load_explicit(&region->tail, memory_order_relaxed);
  struct record *record = record_at(region, tail);
  pass(region, record, atomic_load_explicit(&record->ready, memory_order_relaxed));
}

void region_reset(struct region *region) {
  memset(region->ring, 0, region->capacity);
  atomic_store_explicit(&region->head, 0, memory_order_relaxed);
  atomic_store_explicit(&region->tail, 0, memory_order_relaxed);
}

size_t region_bytes(const struct region *region) {
  return region->mapped_bytes;
}
