/*
 * Design notes
 *
 * An open hash table of slots in one mapping, keyed by thread id. A thread's slot lies
 * within PROBE_MAX places of its hash, so that a look-up is bounded and needs no
 * tombstones to find its end. Taking a slot is a compare-and-swap of its `tid` from 0.
 *
 * Two threads may look for the same id: the thread itself, from a hook, and the
 * reader, from its scan. Both try the places in the same order and re-read the
 * one that they failed to take, so they end at the same slot. A place that becomes
 * free before it could part them; therefore a slot of a thread that ended stays
 * TID_ENDED for a whole scan before it is free.
 */
#include "sampler/threads.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROBE_MAX 64

static struct thread_slot *_Atomic slots; /* written once, after slot_count */
static uint32_t slot_count;

static _Thread_local struct thread_slot *own_slot __attribute__((tls_model("initial-exec")));

static int map_slots(uint32_t count) {
  if (slots != NULL)
    return 0;
  uint32_t rounded = PROBE_MAX;
  while (rounded < count && rounded < (1U << 22))
    rounded *= 2;
  void *memory = mmap(NULL, rounded * sizeof(*slots), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return -1;
  slot_count = rounded;
  slots = memory;
  return 0;
}

int threads_init(uint32_t count) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  int outcome = map_slots(count);
  pthread_mutex_unlock(&mutex);
  return outcome;
}

/* Fibonacci hashing: thread ids are consecutive. */
static struct thread_slot *probe(int tid, uint32_t step) {
  uint32_t hash = (uint32_t)tid * 2654435769U;
  return &slots[((hash >> 8) + step) & (slot_count - 1)];
}

struct thread_slot *thread_slot_find(int tid) {
  for (uint32_t step = 0; slots != NULL && step < PROBE_MAX; step++) {
    struct thread_slot *slot = probe(tid, step);
    if (atomic_load_explicit(&slot->tid, memory_order_acquire) == tid)
      return slot;
  }
  return NULL;
}

struct thread_slot *thread_slot_of(int tid) {
  struct thread_slot *found = thread_slot_find(tid);
  for (uint32_t step = 0; found == NULL && slots != NULL && step < PROBE_MAX; step++) {
    struct thread_slot *slot = probe(tid, step);
    int free_tid = 0;
    if (atomic_compare_exchange_strong_explicit(&slot->tid, &free_tid, tid, memory_order_acq_rel,
                                                memory_order_acquire) ||
        free_tid == tid)
      found = slot;
  }
  return found;
}

struct thread_slot *thread_slot_own(void) {
  if (own_slot == NULL)
    own_slot = thread_slot_of(gettid());
  return own_slot;
}

void threads_after_fork(void) {
  for (uint32_t i = 0; i < slot_count; i++) {
    if (&slots[i] != own_slot && atomic_load_explicit(&slots[i].tid, memory_order_relaxed) != 0)
      memset(&slots[i], 0, offsetof(struct thread_slot, interrupted_pcs));
  }
  struct thread_slot *before = own_slot;
  own_slot = NULL;
  if (before == NULL)
    return;
  struct thread_slot *now = thread_slot_own();
  if (now != NULL && now != before) {
    memcpy(&now->stack, &before->stack, sizeof(now->stack));
    for (int i = 0; i < LABELS_MAX; i++)
      atomic_store_explicit(&now->labels[i],
                            atomic_load_explicit(&before->labels[i], memory_order_relaxed),
                            memory_order_relaxed);
    memset(before, 0, offsetof(struct thread_slot, interrupted_pcs));
  }
}

struct thread_slot *thread_slot_at(uint32_t index) {
  return &slots[index];
}

uint32_t thread_slot_count(void) {
  return slot_count;
}

bool thread_slot_valid(const void *slot) {
  uintptr_t address = (uintptr_t)slot;
  uintptr_t base = (uintptr_t)slots;
  return slots != NULL && address >= base && address < (uintptr_t)(slots + slot_count) &&
         (address - base) % sizeof(*slots) == 0;
}

void thread_slot_copy_labels(const struct thread_slot *slot, struct label_pair *out) {
  for (int i = 0; i < LABELS_MAX; i++) {
    uint32_t pair = atomic_load_explicit(&slot->labels[i], memory_order_relaxed);
    out[i] = (struct label_pair){.key = (uint16_t)(pair >> 16), .value = (uint16_t)pair};
  }
}

size_t threads_bytes(void) {
  size_t used = 0;
  for (uint32_t i = 0; i < slot_count; i++)
    used += atomic_load_explicit(&slots[i].tid, memory_order_relaxed) != 0;
  return used * sizeof(*slots);
}
