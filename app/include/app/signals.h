#ifndef APP_SIGNALS_H
#define APP_SIGNALS_H

#include <stdatomic.h>

#include "app/error.h"

/*
 * SIGINT and SIGTERM, taken by a thread of their own: the first asks the program to
 * end, the second ends it at once with status 128 + signal.
 */
struct signals;

/*
 * Ignores SIGPIPE and blocks SIGINT and SIGTERM in the caller and in the threads that it will
 * create: call it before there are others. What arrives from now on waits for signals_start().
 */
void signals_block(void);

/* Returns 0 and an owned object, or -1 and fills *error. */
int signals_start(struct signals **out, struct app_error *error);

/* Joins the thread and frees the object; the signals stay blocked. Takes NULL. */
void signals_stop(struct signals *signals);

/* Becomes true with the first signal. Any thread. */
const atomic_bool *signals_requested(const struct signals *signals);

/* The first signal's number; 0 when none came. Any thread. */
int signals_first(const struct signals *signals);

/* Waits for the first signal and returns its number. One thread. */
int signals_wait(struct signals *signals);

/* "SIGINT" or "SIGTERM": static storage. */
const char *signals_name(int number);

#endif
