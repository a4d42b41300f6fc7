#ifndef SAMPLER_REGION_H
#define SAMPLER_REGION_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The way of samples from handlers and hooks to the reader: a ring of records in
 * memory that is mapped once. Any number of threads write, also from signal handlers
 * that interrupt a writer; one thread reads. Nobody ever waits: when the ring is
 * full, a record is refused and the caller counts it.
 */
struct region;

/* Labels of a thread: pairs of string numbers, 0 is none. */
#define LABELS_MAX 8
struct label_pair {
  uint16_t key;
  uint16_t value;
};

enum record_kind {
  RECORD_PADDING = 1, /* skips to the ring's start; never handed to the reader */
  RECORD_CPU,
  RECORD_ALLOCATION,
};

/* One sample. The region owns the first word; the rest is the writer's until it publishes. */
struct record {
  atomic_uint ready; /* 0 until published, then the record's bytes */
  uint8_t kind;      /* enum record_kind */
  uint8_t end;       /* enum unwind_end */
  uint16_t depth;    /* program counters below */
  uint32_t weight;   /* CPU: ticks, overruns included */
  uint32_t thread;   /* kernel thread id */
  uint64_t size;     /* allocation: bytes */
  uint64_t serial;   /* allocation: number in the live map, 0 when it is not there */
  uint64_t address;  /* allocation: of the object */
  struct label_pair labels[LABELS_MAX];
  uintptr_t pcs[]; /* innermost first */
};

/* Maps a ring of about `bytes`, rounded up to a power of two. NULL when memory ran out. */
struct region *region_create(size_t bytes);

/* When no writer can run any more. Takes NULL. */
void region_destroy(struct region *region);

/*
 * Room for a record with `depth` program counters, or NULL when the ring is full.
 * It must be published soon: the reader does not pass it. Async-signal-safe.
 */
struct record *region_reserve(struct region *region, size_t depth);

/* Hands the record to the reader. Async-signal-safe. */
void region_publish(struct record *record);

/* The oldest published record, or NULL. The reader alone. */
const struct record *region_peek(struct region *region);

/* Gives the record that region_peek() returned back to the writers. The reader alone. */
void region_consume(struct region *region);

/* Forgets everything, half-written records too: in the child of a fork, on its only thread. */
void region_reset(struct region *region);

size_t region_bytes(const struct region *region);

#endif
