#ifndef RPC_WORKERS_H
#define RPC_WORKERS_H

#include <stdbool.h>

#include "rpc/error.h"

/* A pool of threads that run jobs in the order in which they were submitted. */
struct workers;

/* One job, embedded in what it works on; the pool links it while it waits. */
struct job {
  struct job *next;
  struct job *previous;
};

/*
 * Starts `threads` threads, each of which calls `run` for one job after the
 * other. Returns 0 and an owned pool, or -1 and fills *error.
 */
int workers_start(int threads, void (*run)(struct job *job), struct workers **out,
                  struct rpc_error *error);

/* Runs what still waits, joins the threads and frees the pool. Takes NULL. */
void workers_stop(struct workers *workers);

/* Queues a job. It stays borrowed until it has run or was withdrawn. Any thread. */
void workers_submit(struct workers *workers, struct job *job);

/*
 * Takes a submitted job back. True: it was still waiting and will not run.
 * False: it runs or has run. Any thread.
 */
bool workers_withdraw(struct workers *workers, struct job *job);

#endif
