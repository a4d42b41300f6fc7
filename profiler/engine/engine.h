#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregate.h"
#include "folio/folio.h"
#include "live_index.h"

/* A recording in progress. Guarded by the engine's mutex. */
struct folio_session {
  struct folio_session *next;
  enum folio_type type;
  struct aggregate *samples;
  int64_t began_time_ns; /* since 1970 */
  int64_t began_ns;      /* monotonic */
  int64_t until_ns;      /* monotonic; 0: until stopped */
  int64_t ended_ns;      /* monotonic; 0: still recording */
  int64_t began_cpu_ns;  /* the process's CPU time */
  struct folio_stats began_stats;
};

/* The reader's side of Folio; one a process. */
struct engine {
  pthread_mutex_t mutex; /* guards all below; taken before the symbolizer's */
  pthread_cond_t wanted; /* the reader: something to do, or to stop */
  pthread_cond_t ended;  /* waiters: a session ended */
  bool started;
  bool stopping;
  struct folio_options options; /* with defaults filled in */
  pthread_t reader;
  struct folio_session *sessions;
  uint32_t cpu_sessions;
  struct aggregate *allocations; /* since the start; NULL without heap sampling */
  struct live_index *live;
  int64_t began_time_ns;
  int64_t began_ns;
  int64_t began_cpu_ns;
  uint32_t scan; /* number of the last scan of the threads */
  int64_t next_scan_ns;
  uint64_t threads_unarmed; /* threads that got no timer: the system's limit */
  int64_t own_cpu_ns;       /* CPU time spent for profiles on callers' threads */
  sigset_t fork_mask;       /* the forking thread's, between prepare and resume */
};

extern struct engine engine;

/* Under the mutex: hands all published samples to the sessions. Returns how many. */
size_t engine_drain(void);

/* Under the mutex: finds new threads and takes back the slots of those that ended. */
void engine_scan_threads(void);

/* Under the mutex: takes every thread's timer away. */
void engine_disarm_threads(void);

/* Under the mutex: tells the reader that there is something to do. */
void engine_wake(void);

/* The monotonic, the wall and the process's CPU clock. */
int64_t engine_now_ns(void);
int64_t engine_time_ns(void);
int64_t engine_cpu_ns(void);

/*
 * An object of `size` bytes is sampled with probability 1 - exp(-size / period), so a sample
 * stands for the inverse of that many objects (the Horvitz-Thompson estimator).
 */
double engine_objects_per_sample(uint64_t size);

/*
 * Around Folio's own work on a caller's thread: it is not sampled, and its CPU time is
 * Folio's cost. Returns what engine_leave_own() takes.
 */
int64_t engine_enter_own(void);
void engine_leave_own(int64_t entered);

/* Under the mutex: losses and cost since the start. */
void engine_stats(struct folio_stats *out);

#endif
