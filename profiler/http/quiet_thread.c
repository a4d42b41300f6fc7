#include "quiet_thread.h"

#include <signal.h>

int quiet_thread_start(const char *name, void *(*run)(void *), void *argument, pthread_t *out) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int failure = pthread_create(&thread, NULL, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failure != 0)
    return failure;
  pthread_setname_np(thread, name);
  *out = thread;
  return 0;
}
