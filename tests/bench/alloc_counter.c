/*
 * Design notes
 *
 * The functions below are what every library calls, since the program's own symbols come first;
 * they forward to libc's under libc's other names for them. The blocks are libc's own, so
 * free() and malloc_usable_size() need no replacement. reallocarray(), strdup(), operator new and
 * the like call one of these.
 *
 * Each thread counts in a slot of its own, which it alone writes: a plain add, where an atomic one
 * would cost as much as the allocation. A slot is never given back, so that nothing is lost when a
 * thread ends; the threads that find none left share the last one, with atomic adds. All orders
 * are relaxed: a slot's numbers are the whole message.
 */
#include "alloc_counter.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum {
  SLOTS = 256,
  CACHE_LINE_BYTES = 64
};

struct slot {
  _Alignas(CACHE_LINE_BYTES) atomic_uint_fast64_t allocations;
  atomic_uint_fast64_t bytes;
};

static struct slot slots[SLOTS];
static atomic_uint slots_taken;

/* The thread's slot; NULL before its first allocation. */
static _Thread_local struct slot *own_slot;

static struct slot *const shared_slot = &slots[SLOTS - 1];

static struct slot *take_slot(void) {
  unsigned taken = atomic_fetch_add_explicit(&slots_taken, 1, memory_order_relaxed);
  own_slot = taken < SLOTS - 1 ? &slots[taken] : shared_slot;
  return own_slot;
}

static void add(atomic_uint_fast64_t *number, uint64_t amount, bool shared) {
  if (shared)
    atomic_fetch_add_explicit(number, amount, memory_order_relaxed);
  else
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + amount,
                          memory_order_relaxed);
}

static void *counted(void *block, size_t bytes) {
  if (block == NULL)
    return NULL;
  struct slot *slot = own_slot != NULL ? own_slot : take_slot();
  add(&slot->allocations, 1, slot == shared_slot);
  add(&slot->bytes, bytes, slot == shared_slot);
  return block;
}

void alloc_counter_read(struct alloc_count *out) {
  *out = (struct alloc_count){0};
  for (size_t i = 0; i < SLOTS; i++) {
    out->allocations += atomic_load_explicit(&slots[i].allocations, memory_order_relaxed);
    out->bytes += atomic_load_explicit(&slots[i].bytes, memory_order_relaxed);
  }
}

void *libc_malloc(size_t size) __asm__("__libc_malloc");
void *libc_calloc(size_t nmemb, size_t size) __asm__("__libc_calloc");
void *libc_realloc(void *ptr, size_t size) __asm__("__libc_realloc");
void *libc_memalign(size_t alignment, size_t size) __asm__("__libc_memalign");
void *libc_valloc(size_t size) __asm__("__libc_valloc");
void *libc_pvalloc(size_t size) __asm__("__libc_pvalloc");
void libc_free(void *ptr) __asm__("__libc_free");

/* Visible to the libraries, unlike the rest of the program. */
#pragma GCC visibility push(default)

void *malloc(size_t size) {
  return counted(libc_malloc(size), size);
}

void *calloc(size_t nmemb, size_t size) {
  return counted(libc_calloc(nmemb, size), nmemb * size);
}

void *realloc(void *ptr, size_t size) {
  return counted(libc_realloc(ptr, size), size);
}

void *reallocarray(void *ptr, size_t nmemb, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(nmemb, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(ptr, bytes);
}

/* Not counted, but here: the whole family must come from one place. */
void free(void *ptr) {
  libc_free(ptr);
}

void *memalign(size_t alignment, size_t size) {
  return counted(libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **memptr, size_t alignment, size_t size) {
  bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!power_of_two || alignment % sizeof(void *) != 0)
    return EINVAL;
  int saved = errno;
  void *block = memalign(alignment, size);
  errno = saved;
  if (block == NULL)
    return ENOMEM;
  *memptr = block;
  return 0;
}

void *valloc(size_t size) {
  return counted(libc_valloc(size), size);
}

void *pvalloc(size_t size) {
  return counted(libc_pvalloc(size), size);
}

#pragma GCC visibility pop
