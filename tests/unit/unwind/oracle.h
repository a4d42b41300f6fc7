#ifndef UNWIND_TEST_ORACLE_H
#define UNWIND_TEST_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

/* What others say of the stack, to compare walks with. */

/* The bounds of the calling thread's stack. */
struct unwind_stack oracle_stack(void);

/* libunwind's walk, with its caller as innermost frame. */
size_t oracle_walk(uintptr_t *pcs, size_t max);

/* libunwind's walk from the ucontext_t of a signal handler, stepwise and without its cache. */
size_t oracle_walk_from(void *context, uintptr_t *pcs, size_t max);

/* libunwind's walk from the ucontext_t of the only signal handler that runs. */
size_t oracle_walk_in_handler(void *context, uintptr_t *pcs, size_t max);

#endif
