#ifndef CLIENT_SIMULATOR_H
#define CLIENT_SIMULATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/latency.h"
#include "client/queries.h"
#include "rpc/error.h"
#include "rpc/status.h"

/*
 * The client simulator: rounds of requests whose queries are drawn at random,
 * each answer verified. It prints nothing: an observer is told what happens.
 */

/* What a round or the whole run came to; some 15 KB. */
struct simulator_tally {
  uint64_t requests;                    /* finished; the sum of by_status */
  uint64_t by_status[RPC_STATUS_COUNT]; /* by outcome; RPC_OK includes wrong answers */
  uint64_t wrong;                       /* answered OK with another count than the known one */
  int64_t elapsed_ns;                   /* monotonic; for a run the sum of its rounds */
  struct latency latency;               /* of all finished requests, start to completion */
};

/* Requests a second from the unrounded time; 0 when no time passed. */
double simulator_tally_rate(const struct simulator_tally *tally);

/* Requests that did not end with OK and the right count. */
uint64_t simulator_tally_errors(const struct simulator_tally *tally);

/*
 * Called on the thread of simulator_run(); each member may be NULL. Every round
 * that was started is ended, one that was cut short too: its tally tells how far
 * it came and whether a request failed. request_done() is told how many of the
 * round's requests have finished.
 */
struct simulator_observer {
  void *context;
  void (*round_started)(void *context, uint64_t round); /* 1 is the first */
  void (*request_done)(void *context, uint64_t done, uint64_t of);
  void (*round_ended)(void *context, uint64_t round, const struct simulator_tally *tally);
};

/* Zero in any field but `size` means the default. */
struct simulator_options {
  size_t size;                   /* sizeof(struct simulator_options) */
  const char *target;            /* default 127.0.0.1:7788 */
  const struct queries *queries; /* what to ask; borrowed; default queries_known */
  uint64_t rounds;               /* 0 is endless (or until `duration_ns`) */
  int64_t duration_ns;           /* no request starts after this time; 0 is no limit */
  uint64_t requests_per_round;   /* default 20 */
  uint64_t concurrency;          /* requests in flight; default 1 */
  int64_t timeout_ns;            /* deadline of a request; 0 is none */
  uint64_t seed;                 /* of the draw: the same seed asks the same queries in order */
  bool keep_going;               /* count errors and go on instead of ending at the first */
  const atomic_bool *stop;       /* polled every 50 ms at least: true ends the run; NULL is never */
  struct simulator_observer observer;
};

enum simulator_outcome {
  SIMULATOR_DONE = 0, /* all rounds or the whole duration, every answer right */
  SIMULATOR_STOPPED,  /* `stop` became true; every answer so far right */
  SIMULATOR_FAILED,   /* some request failed or was answered wrongly: *error tells the first */
};

/*
 * Runs the rounds and adds everything up in *out_total (always written, an
 * interrupted round included). The first error ends the run unless `keep_going`:
 * no new request starts, and *error says which query failed, how, and what to
 * do. At an error or a stop the requests in flight are cancelled and not counted.
 * An answer that is no ShakespeareResponse counts as INTERNAL.
 */
enum simulator_outcome simulator_run(const struct simulator_options *options,
                                     struct simulator_tally *out_total, struct rpc_error *error);

#endif
