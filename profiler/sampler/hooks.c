/*
 * The allocation functions of a program that Folio is linked into, unless it brings
 * its own: the linker takes this file for its malloc(). They are glibc's own, plus a countdown: an
 * allocation costs a load, a subtraction and two branches, a free a load and a branch
 * (docs/BENCHMARKS.md).
 */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "heap_sample.h"
#include "live_map.h"

/* glibc's allocator under the names that cannot be interposed. */
extern void *libc_malloc(size_t size) __asm__("__libc_malloc");
extern void *libc_calloc(size_t count, size_t size) __asm__("__libc_calloc");
extern void *libc_realloc(void *object, size_t size) __asm__("__libc_realloc");
extern void *libc_memalign(size_t alignment, size_t size) __asm__("__libc_memalign");
extern void *libc_valloc(size_t size) __asm__("__libc_valloc");
extern void *libc_pvalloc(size_t size) __asm__("__libc_pvalloc");
extern void libc_free(void *object) __asm__("__libc_free");

#define HOOK __attribute__((visibility("default"), section("folio_hooks")))

/* heap.c looks whether this file is part of the program. */
const char heap_hooks_marker = 1;

static _Thread_local struct heap_countdown countdown __attribute__((tls_model("initial-exec")));

static inline void allocated(void *object, size_t size) {
  if (__builtin_expect(!atomic_load_explicit(&heap_enabled, memory_order_relaxed), 1))
    return;
  if (__builtin_expect((countdown.left -= (int64_t)size) >= 0, 1))
    return;
  if (object != NULL)
    heap_sample(&countdown, object, size);
}

/* The serial of a sampled object that is about to go, else 0. */
static inline uint64_t going(void *object) {
  if (__builtin_expect(!live_maybe(object), 1))
    return 0;
  return live_remove(object);
}

HOOK void *malloc(size_t size) {
  void *object = libc_malloc(size);
  allocated(object, size);
  return object;
}

HOOK void free(void *ptr) {
  going(ptr);
  libc_free(ptr);
}

HOOK void *calloc(size_t nmemb, size_t size) {
  void *object = libc_calloc(nmemb, size);
  if (object != NULL)
    allocated(object, nmemb * size);
  return object;
}

/*
 * A new allocation of the new size and a free of the old. The old object leaves the map
 * first, because its address may be another's as soon as realloc() returns.
 */
HOOK void *realloc(void *ptr, size_t size) {
  uint64_t serial = going(ptr);
  void *moved = libc_realloc(ptr, size);
  if (moved != NULL)
    allocated(moved, size);
  else if (serial != 0 && size != 0)
    live_add(ptr, serial);
  return moved;
}

HOOK void *reallocarray(void *ptr, size_t nmemb, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(nmemb, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(ptr, bytes);
}

HOOK void *memalign(size_t alignment, size_t size) {
  void *object = libc_memalign(alignment, size);
  allocated(object, size);
  return object;
}

HOOK void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

HOOK int posix_memalign(void **memptr, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
    return EINVAL;
  int saved_errno = errno;
  void *object = memalign(alignment, size);
  errno = saved_errno;
  if (object == NULL)
    return ENOMEM;
  *memptr = object;
  return 0;
}

HOOK void *valloc(size_t size) {
  void *object = libc_valloc(size);
  allocated(object, size);
  return object;
}

HOOK void *pvalloc(size_t size) {
  void *object = libc_pvalloc(size);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  allocated(object, (size + page - 1) / page * page);
  return object;
}
