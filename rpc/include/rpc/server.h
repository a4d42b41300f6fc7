#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/error.h"
#include "rpc/status.h"

/*
 * A gRPC server over the C core. Queue threads move calls and nothing else;
 * handlers run on a pool of workers, so that refusals, cancellations and
 * unknown methods are answered while every worker is busy.
 */
struct rpc_server;

/* One call in progress; it belongs to the handler until the handler returns. */
struct rpc_call;

/*
 * Answers one unary call. It runs on a worker thread, or on a queue thread when
 * the method says so, and calls rpc_call_reply() or rpc_call_fail() exactly
 * once before it returns; a handler that does neither answers INTERNAL.
 * `request` is borrowed until the handler returns.
 */
typedef void rpc_handler(struct rpc_call *call, const void *request, size_t request_bytes,
                         void *context);

struct rpc_method {
  const char *path;     /* "/package.Service/Method"; borrowed for the server's life */
  rpc_handler *handler; /* called by several threads at once */
  void *context;        /* handed to the handler; borrowed */
  bool on_queue_thread; /* the handler never blocks and takes microseconds */
};

/* Zero in any field but `size` means the default. */
struct rpc_server_options {
  size_t size;              /* sizeof(struct rpc_server_options) */
  const char *host;         /* address to listen on; default 127.0.0.1 */
  int port;                 /* 0 lets the kernel pick one: rpc_server_port() tells */
  int queue_threads;        /* default 1 */
  int worker_threads;       /* default: the processors this process may run on */
  int max_in_flight;        /* calls in progress, further ones get RESOURCE_EXHAUSTED; 1024 */
  size_t max_request_bytes; /* larger messages get RESOURCE_EXHAUSTED; default 64 KiB */
};

/*
 * Binds the address and serves `methods` (copied) until rpc_server_drain().
 * Calls to other paths get UNIMPLEMENTED. A port in use is an error: it is never
 * shared. Returns 0 and sets *out to an owned server, or -1 and fills *error.
 */
int rpc_server_start(const struct rpc_server_options *options, const struct rpc_method *methods,
                     size_t method_count, struct rpc_server **out, struct rpc_error *error);

/* The port that is bound. Any thread. */
int rpc_server_port(const struct rpc_server *server);

/*
 * Stops taking calls, waits at most `grace_ns` nanoseconds for those in
 * progress, cancels the rest, and returns when every handler has returned and
 * every thread is joined. Returns the number of calls that had to be cancelled.
 * Call it once, from a thread that is none of the server's own.
 */
int rpc_server_drain(struct rpc_server *server, int64_t grace_ns);

/* Frees a drained server (one that was not drained is drained without grace). Takes NULL. */
void rpc_server_destroy(struct rpc_server *server);

/* Counters since the start; each is exact, together they are no snapshot. */
struct rpc_server_stats {
  uint64_t calls;     /* finished calls to known methods, refused ones included */
  uint64_t refused;   /* of these, refused by max_in_flight */
  uint64_t cancelled; /* of these, ended by cancellation or deadline */
  int in_flight;      /* admitted and not finished yet */
};

/* Any thread. */
void rpc_server_stats(const struct rpc_server *server, struct rpc_server_stats *out);

/* Answers OK with a copy of `reply`. */
void rpc_call_reply(struct rpc_call *call, const void *reply, size_t reply_bytes);

/* Answers with a status that is not OK and a copy of `message`. */
void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *message);

/*
 * Becomes true when the client cancelled, its deadline passed, its connection
 * broke or the server gave up draining: the handler should return soon, and what
 * it answers is not sent. Valid until the handler returns.
 */
const atomic_bool *rpc_call_cancelled(const struct rpc_call *call);

#endif
