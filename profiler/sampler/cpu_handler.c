/*
 * What runs when a thread's timer fires: the only code of Folio in a signal
 * handler. docs/SIGNAL_SAFETY.md goes through it call by call.
 */
#include "cpu_handler.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "sampler/sampler.h"
#include "sampler/threads.h"

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void record_sample(struct region *region, struct thread_slot *slot, uint32_t weight,
                          const void *context) {
  struct unwind_start start = unwind_interrupted(context);
  enum unwind_end end;
  size_t depth = unwind_walk(&start, &slot->stack, slot->interrupted_pcs, STACK_DEPTH_MAX, &end);
  struct record *record = region_reserve(region, depth);
  if (record == NULL) {
    sampler_count(&sampler.lost_buffer_full);
    return;
  }
  record->kind = RECORD_CPU;
  record->end = (uint8_t)end;
  record->weight = weight;
  record->thread = (uint32_t)atomic_load_explicit(&slot->tid, memory_order_relaxed);
  thread_slot_copy_labels(slot, record->labels);
  memcpy(record->pcs, slot->interrupted_pcs, depth * sizeof(uintptr_t));
  region_publish(record);
  sampler_count(&sampler.cpu_samples);
  sampler_count_end(end);
}

bool cpu_handle(const siginfo_t *info, const void *context) {
  if (info->si_code != SI_TIMER || !thread_slot_valid(info->si_value.sival_ptr))
    return false;
  struct region *region = atomic_load_explicit(&sampler.region, memory_order_acquire);
  struct thread_slot *slot = info->si_value.sival_ptr;
  if (region == NULL || atomic_load_explicit(&slot->internal, memory_order_relaxed))
    return true;
  int saved_errno = errno;
  int64_t began_ns = now_ns();
  int overrun = info->si_overrun > 0 ? info->si_overrun : 0;
  record_sample(region, slot, 1 + (uint32_t)overrun, context);
  atomic_fetch_add_explicit(&sampler.handler_ns, (uint64_t)(now_ns() - began_ns),
                            memory_order_relaxed);
  errno = saved_errno;
  return true;
}
