#ifndef UNWIND_GRACE_H
#define UNWIND_GRACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "snapshot.h"

/* The state that snapshot.c's readers share with publish.c's one writer: see publish.c. */
enum {
  GRACE_SLOTS = 8
};

struct grace_slot {
  _Alignas(64) atomic_int readers;
};

extern struct grace_slot grace_slots[GRACE_SLOTS];
extern atomic_uint grace_phase;
extern _Atomic(const struct snapshot *) grace_published;

#endif
