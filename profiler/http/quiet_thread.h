#ifndef HTTP_QUIET_THREAD_H
#define HTTP_QUIET_THREAD_H

#include <pthread.h>

/*
 * Starts a thread with every signal blocked, so that the program's handlers never run on it
 * and SIGPIPE does not arise. `name` has at most 15 characters. Returns 0 or an errno value.
 */
int quiet_thread_start(const char *name, void *(*run)(void *), void *argument, pthread_t *out);

#endif
