/*
 * Design notes
 *
 * libmicrohttpd panics, and by default ends the process, when a system call or a lock fails that
 * cannot fail: in practice when the program has closed a socket that is not its own, as
 * those do that close every descriptor to become a daemon. The host must survive
 * that, so a panic leaves the guarded work by a jump.
 *
 * There is one panic function a process, and no way to read or restore the default. A panic of
 * a thread that is not guarded belongs to a server of the host's own, and must not return; it
 * ends as it would have without us.
 */
#include "panic.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

struct guard {
  jmp_buf escape;
  char *reason;
  size_t room;
};

static _Thread_local struct guard *active;

static void take_panic(void *context, const char *file, unsigned int line, const char *reason) {
  (void)context;
  struct guard *guard = active;
  if (reason == NULL)
    reason = "";
  if (guard != NULL) {
    snprintf(guard->reason, guard->room, "%.*s (%s:%u)", (int)strcspn(reason, "\n"), reason, file,
             line);
    longjmp(guard->escape, 1);
  }
  dprintf(STDERR_FILENO, "Fatal error in GNU libmicrohttpd %s:%u: %s\n", file, line, reason);
  abort();
}

static void install(void) {
  MHD_set_panic_func(take_panic, NULL);
}

bool panic_guard(void (*work)(void *context), void *context, char *out_reason, size_t room) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  struct guard guard;
  guard.reason = out_reason;
  guard.room = room;
  active = &guard;
  if (setjmp(guard.escape) == 0) {
    work(context);
    active = NULL;
    return true;
  }
  active = NULL;
  return false;
}
