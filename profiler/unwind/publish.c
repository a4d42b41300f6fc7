/*
 * Design notes: how tables are exchanged under running walks
 *
 * Walks run in signal handlers and allocation hooks, so they cannot wait. The one
 * writer publishes an immutable snapshot by storing a pointer; it may wait.
 *
 *   walk:    slot = phase; readers[slot]++ (A); s = published (B); ...; readers[slot]-- (C)
 *   writer:  published = new (D); wait until readers[other] == 0 (E);
 *            flip phase; wait until readers[old] == 0 (F); free the old snapshot
 *
 * A, B, D, E and F's loads are seq_cst, so they have one order. A walk whose A comes
 * after the writer's look at its slot has its B after D, and reads the new snapshot; a walk
 * whose A came before is counted, and the writer waits for it. So whatever slot the walk
 * chose, stale or not, it is safe: two slots are needed only for the wait to end. Walks go
 * on starting in the slot of the phase; the other one gets none but those that read the
 * phase before its last flip, and drains.
 *
 * C is a release and pairs with the loads of E and F: what a walk read, it read before
 * the free.
 *
 * A thread may be stopped in the middle of a walk, by SIGSTOP or a debugger, for as long
 * as it likes. The wait is therefore bounded; what could not be freed stays on a list
 * until a later call sees both slots empty. A snapshot and the tables that it alone
 * led to are retired together, after the new one was published.
 *
 * In the child of a fork the threads that were walking do not exist. unwind_after_fork()
 * goes on to the next pair of slots and clears it. The forking thread may itself be in a
 * walk, if a signal handler that interrupted it called fork: it then ends in the old
 * pair, and the new counts stay right. Four pairs are used in turn.
 */
#include "publish.h"

#include <time.h>

#include "grace.h"
#include "pages.h"

enum {
  POLLS = 40
};
static const struct timespec poll_interval = {.tv_nsec = 50 * 1000};

/* Touched by the writer only. */
static struct retired *retired_blocks;

struct snapshot *snapshot_create(size_t count) {
  size_t bytes = sizeof(struct snapshot) + count * sizeof(struct region);
  struct snapshot *snapshot = pages_map(bytes);
  if (snapshot != NULL)
    snapshot->retired.bytes = bytes;
  return snapshot;
}

/* The writer is the only one who stores, so it may cast its own pointer back. */
static struct snapshot *exchange(struct snapshot *snapshot) {
  return (struct snapshot *)(uintptr_t)atomic_exchange_explicit(&grace_published, snapshot,
                                                                memory_order_seq_cst);
}

const struct snapshot *publish_current(void) {
  return atomic_load_explicit(&grace_published, memory_order_relaxed);
}

void publish(struct snapshot *snapshot) {
  struct snapshot *before = exchange(snapshot);
  if (before != NULL)
    publish_retire(&before->retired);
}

void publish_retire(struct retired *block) {
  block->next = retired_blocks;
  retired_blocks = block;
}

static void free_retired(void) {
  while (retired_blocks != NULL) {
    struct retired *block = retired_blocks;
    retired_blocks = block->next;
    pages_unmap(block, block->bytes);
  }
}

static bool drained(unsigned slot) {
  for (int poll = 0; poll < POLLS; poll++) {
    if (atomic_load_explicit(&grace_slots[slot % GRACE_SLOTS].readers, memory_order_seq_cst) == 0)
      return true;
    nanosleep(&poll_interval, NULL);
  }
  return false;
}

bool publish_reclaim(void) {
  if (retired_blocks == NULL)
    return true;
  unsigned phase = atomic_load_explicit(&grace_phase, memory_order_relaxed);
  if (!drained(phase ^ 1))
    return false;
  atomic_store_explicit(&grace_phase, phase ^ 1, memory_order_relaxed);
  if (!drained(phase))
    return false;
  free_retired();
  return true;
}

void publish_release(void) {
  publish(NULL);
  free_retired();
}
