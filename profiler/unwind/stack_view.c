#include "stack_view.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

/* Words of other functions' frames: sanitizers would see reads out of bounds and races. */
#define UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

enum {
  WORD_BYTES = sizeof(uintptr_t),
  SMALLEST_PAGE_BYTES = 4096,
};

typedef uintptr_t __attribute__((may_alias)) stack_word;

UNCHECKED static uintptr_t load(uintptr_t address) {
  return *(const volatile stack_word *)address;
}

/* Copies from `address` up to the end of its page at most, so that the copy is whole or fails. */
static bool fill_window(struct stack_view *view, uintptr_t address) {
  size_t bytes = SMALLEST_PAGE_BYTES - address % SMALLEST_PAGE_BYTES;
  if (bytes > STACK_WINDOW_BYTES)
    bytes = STACK_WINDOW_BYTES;
  struct iovec local = {.iov_base = view->window, .iov_len = bytes};
  struct iovec remote = {.iov_base = (void *)address, .iov_len = bytes};
  int saved_errno = errno;
  if (view->process == 0)
    view->process = getpid();
  ssize_t copied = process_vm_readv(view->process, &local, 1, &remote, 1, 0);
  errno = saved_errno;
  view->window_start = address;
  view->window_bytes = copied < 0 ? 0 : (size_t)copied;
  return view->window_bytes >= WORD_BYTES;
}

static bool read_window(struct stack_view *view, uintptr_t address, uintptr_t *out) {
  uintptr_t offset = address - view->window_start;
  if (view->window_bytes < WORD_BYTES || offset > view->window_bytes - WORD_BYTES) {
    if (!fill_window(view, address))
      return false;
    offset = 0;
  }
  *out = view->window[offset / WORD_BYTES];
  return true;
}

bool stack_view_is_own(const struct stack_view *view, uintptr_t address) {
  return address >= view->stack.low && address < view->stack.high;
}

void stack_view_init(struct stack_view *view, const struct unwind_stack *stack, uintptr_t sp) {
  view->stack = *stack;
  view->low = 0;
  view->process = 0;
  view->window_bytes = 0;
  if (stack_view_is_own(view, sp))
    view->low = sp;
}

void stack_view_move(struct stack_view *view, uintptr_t sp) {
  uintptr_t word;
  if (view->low != 0 || !stack_view_is_own(view, sp))
    return;
  if (read_window(view, sp / WORD_BYTES * WORD_BYTES, &word))
    view->low = sp;
}

bool stack_view_read(struct stack_view *view, uintptr_t address, uintptr_t *out) {
  if (address % WORD_BYTES != 0)
    return false;
  if (view->low != 0 && address >= view->low && address < view->stack.high &&
      view->stack.high - address >= WORD_BYTES) {
    *out = load(address);
    return true;
  }
  return read_window(view, address, out);
}
