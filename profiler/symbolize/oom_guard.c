#include "oom_guard.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

/* Taken and given back untouched: this costs two system calls. */
#define RESERVE_BYTES ((size_t)1024 * 1024)

/* Where the guard of this thread goes on; libdw's handler has no argument for it. */
static _Thread_local jmp_buf *resume;

static void __attribute__((noreturn)) out_of_memory(void) {
  longjmp(*resume, 1);
}

void oom_guard_attach(Dwarf *dwarf) {
  dwarf_new_oom_handler(dwarf, out_of_memory);
}

static bool memory_is_short(void) {
  void *volatile piece = malloc(RESERVE_BYTES);
  bool is_short = piece == NULL;
  free(piece);
  return is_short;
}

enum oom_guard_result oom_guard_run(void (*call)(void *), void *argument) {
  jmp_buf here;
  jmp_buf *outer = resume;
  volatile enum oom_guard_result result = OOM_GUARD_BROKEN;
  if (memory_is_short())
    return OOM_GUARD_NOT_RUN;
  resume = &here;
  if (setjmp(here) == 0) {
    call(argument);
    result = OOM_GUARD_DONE;
  }
  resume = outer;
  return result;
}
