#include "heap_sample.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live_map.h"
#include "sampler/heap.h"
#include "sampler/sampler.h"
#include "sampler/threads.h"

static uint64_t period_bytes;
static uint64_t given_seed; /* 0: none */
static atomic_uint_fast64_t last_serial;

/* The bounds of the section that all code of the hooks lies in, from the linker. */
extern const char hooks_begin[] __asm__("__start_folio_hooks");
extern const char hooks_end[] __asm__("__stop_folio_hooks");

void heap_sample_set(uint64_t period, uint64_t seed_or_0) {
  period_bytes = period;
  given_seed = seed_or_0;
}

uint64_t heap_period(void) {
  return period_bytes;
}

/* How many of the innermost frames are the hook's own. */
static size_t hook_frames(const uintptr_t *pcs, size_t depth) {
  size_t count = 0;
  while (count < depth && pcs[count] > (uintptr_t)hooks_begin && pcs[count] <= (uintptr_t)hooks_end)
    count++;
  return count;
}

/* splitmix64, https://prng.di.unimi.it/splitmix64.c */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* The distance to the next sampling point: exponential, by inversion. */
static int64_t draw_distance(struct heap_countdown *countdown) {
  double uniform = ((double)(next_random(&countdown->random) >> 11) + 0.5) * 0x1p-53;
  return (int64_t)(-log(uniform) * (double)period_bytes);
}

/* With a seed given, threads differ by the order in which they come here. */
static void seed(struct heap_countdown *countdown) {
  static atomic_uint_fast64_t ordinal;
  uint64_t thread = atomic_fetch_add_explicit(&ordinal, 1, memory_order_relaxed);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t base = given_seed;
  if (base == 0)
    base = ((uint64_t)gettid() << 32) ^ (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20;
  countdown->random = base + thread * UINT64_C(0xD1B54A32D192ED03);
  next_random(&countdown->random);
  if (countdown->random == 0)
    countdown->random = 1;
}

IN_HOOKS static void record(struct region *region, struct thread_slot *slot, void *object,
                            size_t size) {
  struct unwind_start start = unwind_here();
  enum unwind_end end;
  size_t depth = unwind_walk(&start, &slot->stack, slot->hook_pcs, STACK_DEPTH_MAX, &end);
  size_t inner = hook_frames(slot->hook_pcs, depth);
  struct record *sample = region_reserve(region, depth - inner);
  if (sample == NULL) {
    sampler_count(&sampler.lost_buffer_full);
    return;
  }
  uint64_t serial = 1 + atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed);
  sample->kind = RECORD_ALLOCATION;
  sample->end = (uint8_t)end;
  sample->thread = (uint32_t)atomic_load_explicit(&slot->tid, memory_order_relaxed);
  sample->size = size;
  sample->address = (uintptr_t)object;
  thread_slot_copy_labels(slot, sample->labels);
  memcpy(sample->pcs, slot->hook_pcs + inner, (depth - inner) * sizeof(uintptr_t));
  if (live_add(object, serial))
    sample->serial = serial;
  else
    sampler_count(&sampler.lost_live_full);
  region_publish(sample);
  sampler_count(&sampler.heap_samples);
  sampler_count_end(end);
}

/* Records unless this thread is Folio's own, or its hook was interrupted by this very call. */
IN_HOOKS static void try_record(void *object, size_t size) {
  struct region *region = atomic_load_explicit(&sampler.region, memory_order_acquire);
  if (region == NULL)
    return;
  struct thread_slot *slot = thread_slot_own();
  if (slot == NULL) {
    sampler_count(&sampler.lost_no_thread);
    return;
  }
  if (atomic_load_explicit(&slot->internal, memory_order_relaxed))
    return;
  if (atomic_exchange_explicit(&slot->sampling, true, memory_order_relaxed)) {
    sampler_count(&sampler.lost_nested);
    return;
  }
  record(region, slot, object, size);
  atomic_store_explicit(&slot->sampling, false, memory_order_relaxed);
}

IN_HOOKS void heap_sample(struct heap_countdown *countdown, void *object, size_t size) {
  int saved_errno = errno;
  bool met = true;
  if (countdown->random == 0) {
    seed(countdown);
    countdown->left = draw_distance(countdown) - (int64_t)size;
    met = countdown->left < 0;
  }
  if (met) {
    try_record(object, size);
    /* The process has no memory: past this object the distance is drawn anew. */
    countdown->left = draw_distance(countdown);
  }
  errno = saved_errno;
}
