#ifndef RPC_TAG_H
#define RPC_TAG_H

/*
 * The hand-over of a tag through the gRPC core. The thread that starts an
 * operation writes what the tag points to; the thread that takes the tag from
 * the completion queue reads it. The core orders the two by atomics that
 * ThreadSanitizer cannot see, because the library is not instrumented, so we
 * tell it: each tag_give() pairs with the tag_take() of the same address.
 */

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

/* Before the operation is started. */
static inline void tag_give(void *tag) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(tag);
#else
  (void)tag;
#endif
}

/* After the tag came out of the queue. */
static inline void tag_take(void *tag) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(tag);
#else
  (void)tag;
#endif
}

#endif
