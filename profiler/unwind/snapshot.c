#include "snapshot.h"

#include "grace.h"
#include "unwind/unwind.h"

struct grace_slot grace_slots[GRACE_SLOTS];
atomic_uint grace_phase;
_Atomic(const struct snapshot *) grace_published;

const struct region *snapshot_find(const struct snapshot *snapshot, uintptr_t address) {
  size_t low = 0;
  size_t high = snapshot == NULL ? 0 : snapshot->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (snapshot->regions[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (snapshot == NULL || low == snapshot->count || address < snapshot->regions[low].start)
    return NULL;
  return &snapshot->regions[low];
}

const struct snapshot *snapshot_enter(unsigned *out_slot) {
  unsigned slot = atomic_load_explicit(&grace_phase, memory_order_relaxed) % GRACE_SLOTS;
  atomic_fetch_add_explicit(&grace_slots[slot].readers, 1, memory_order_seq_cst);
  *out_slot = slot;
  return atomic_load_explicit(&grace_published, memory_order_seq_cst);
}

void snapshot_leave(unsigned slot) {
  atomic_fetch_sub_explicit(&grace_slots[slot].readers, 1, memory_order_release);
}

void unwind_after_fork(void) {
  unsigned phase = (atomic_load_explicit(&grace_phase, memory_order_relaxed) | 1) + 1;
  atomic_store_explicit(&grace_slots[phase % GRACE_SLOTS].readers, 0, memory_order_relaxed);
  atomic_store_explicit(&grace_slots[(phase + 1) % GRACE_SLOTS].readers, 0, memory_order_relaxed);
  atomic_store_explicit(&grace_phase, phase, memory_order_relaxed);
}
