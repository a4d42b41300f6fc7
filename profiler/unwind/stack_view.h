#ifndef UNWIND_STACK_VIEW_H
#define UNWIND_STACK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

/*
 * Reads words of a stack without ever faulting. All functions are async-signal-safe.
 *
 * Inside the thread's stack as the caller knows it, words are loaded; but only above the
 * first stack pointer that was seen there, since a thread's stack is all mapped between its
 * stack pointer and its high end, and need not be below. Words elsewhere are copied by the
 * kernel (process_vm_readv of this process), which answers a bad address with an error,
 * a window of them at a time.
 */
enum {
  STACK_WINDOW_BYTES = 128
};

struct stack_view {
  struct unwind_stack stack;
  uintptr_t low; /* [low, stack.high) is loaded; 0: the walk was not there yet */
  int process;   /* of this process; 0: not asked yet */
  uintptr_t window_start;
  size_t window_bytes;
  uint64_t window[STACK_WINDOW_BYTES / sizeof(uint64_t)];
};

void stack_view_init(struct stack_view *view, const struct unwind_stack *stack, uintptr_t sp);

/* The walk's stack pointer is now `sp`, perhaps on another stack. */
void stack_view_move(struct stack_view *view, uintptr_t sp);

/* Whether the address is in the thread's own stack. */
bool stack_view_is_own(const struct stack_view *view, uintptr_t address);

/* The word at the address; false when it is not aligned or cannot be read. */
bool stack_view_read(struct stack_view *view, uintptr_t address, uintptr_t *out);

#endif
