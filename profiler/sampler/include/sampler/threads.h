#ifndef SAMPLER_THREADS_H
#define SAMPLER_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "sampler/region.h"
#include "unwind/unwind.h"

/* How many threads have room when nobody asked for another number. */
#define THREADS_DEFAULT 4096

/* The deepest stack that a sample holds; deeper ones are cut at the outer end. */
#define STACK_DEPTH_MAX 512

/*
 * What Folio knows of one thread, keyed by its kernel thread id. A slot belongs to its thread
 * while that lives; the reader takes back the slots of threads that ended.
 */
struct thread_slot {
  atomic_int tid;         /* 0: free; TID_ENDED: taken back at the next scan */
  uint32_t scan;          /* the reader's: the last scan that saw the thread */
  atomic_int timer_state; /* enum timer_state in cpu.c: who may touch `timer` */
  timer_t timer;
  struct unwind_stack stack; /* {0, 0} until known; written before the timer is armed */
  atomic_bool internal;      /* Folio's own thread: not sampled */
  atomic_bool sampling;      /* a hook of this thread records: a nested one passes */
  _Atomic uint32_t
      labels[LABELS_MAX]; /* struct label_pair as key << 16 | value; the thread's own */
  uintptr_t interrupted_pcs[STACK_DEPTH_MAX]; /* the signal handler's */
  uintptr_t hook_pcs[STACK_DEPTH_MAX];        /* the allocation hook's */
};

#define TID_ENDED (-1)

/*
 * Maps room for `count` slots, once and for the process's life, since threads
 * remember where theirs is; only what is used takes memory. 0, or -1.
 */
int threads_init(uint32_t count);

/*
 * The slot of a thread, taken now if it has none; NULL when all are taken.
 * Async-signal-safe.
 */
struct thread_slot *thread_slot_of(int tid);

/* The slot of a thread, or NULL. Async-signal-safe. */
struct thread_slot *thread_slot_find(int tid);

/*
 * The calling thread's slot, remembered in thread-local storage of the
 * initial-exec kind, which exists from the thread's start on. Taken now if it
 * has none; NULL when all are taken. Async-signal-safe.
 */
struct thread_slot *thread_slot_own(void);

/* In the child of a fork: only the calling thread lives, under a new id. Async-signal-safe. */
void threads_after_fork(void);

/* The slots, for the reader's scan. */
struct thread_slot *thread_slot_at(uint32_t index);
uint32_t thread_slot_count(void);

/* Whether a pointer that came with a signal is one of the slots. Async-signal-safe. */
bool thread_slot_valid(const void *slot);

/* The calling thread's labels as a record carries them. Async-signal-safe. */
void thread_slot_copy_labels(const struct thread_slot *slot, struct label_pair *out);

size_t threads_bytes(void);

#endif
