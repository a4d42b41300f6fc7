#define UNW_LOCAL_ONLY

#include "oracle.h"

#include <libunwind.h>
#include <pthread.h>
#include <string.h>

enum {
  MAX_FRAMES = 1024
};

struct unwind_stack oracle_stack(void) {
  pthread_attr_t attributes;
  void *low;
  size_t bytes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  return (struct unwind_stack){(uintptr_t)low, (uintptr_t)low + bytes};
}

/* The frames from the first with `pc` on; 0 when there is none. */
static size_t take_from(void *const *all, size_t count, size_t first, uintptr_t *pcs, size_t max) {
  size_t taken = 0;
  for (size_t i = first; i < count && taken < max; i++)
    pcs[taken++] = (uintptr_t)all[i];
  return taken;
}

__attribute__((noinline)) size_t oracle_walk(uintptr_t *pcs, size_t max) {
  void *all[MAX_FRAMES];
  int count = unw_backtrace(all, MAX_FRAMES);
  return take_from(all, (size_t)count, 1, pcs, max);
}

size_t oracle_walk_in_handler(void *context, uintptr_t *pcs, size_t max) {
  uintptr_t pc = unwind_interrupted(context).pc;
  void *all[MAX_FRAMES];
  size_t count = (size_t)unw_backtrace(all, MAX_FRAMES);
  for (size_t i = 0; i < count; i++)
    if ((uintptr_t)all[i] == pc)
      return take_from(all, count, i, pcs, max);
  return 0;
}

size_t oracle_walk_from(void *context, uintptr_t *pcs, size_t max) {
  unw_cursor_t cursor;
  size_t count = 0;
  if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME) != 0)
    return 0;
  do {
    unw_word_t pc;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    if (pc == 0)
      break;
    pcs[count++] = (uintptr_t)pc;
  } while (count < max && unw_step(&cursor) > 0);
  return count;
}
