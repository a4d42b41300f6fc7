#ifndef RPC_CHANNEL_H
#define RPC_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/error.h"
#include "rpc/status.h"

/*
 * A client channel with a completion queue of its own. A caller starts any
 * number of unary calls and takes their completions one by one. There is no
 * thread behind it: calls move on only while rpc_channel_next() waits. One thread
 * at a time may use a channel; different channels are independent.
 */
struct rpc_channel;

/* Zero in any field but `size` means the default. */
struct rpc_channel_options {
  size_t size;            /* sizeof(struct rpc_channel_options) */
  size_t max_reply_bytes; /* default 4 MiB */
};

/* One finished call. */
struct rpc_completion {
  void *tag;              /* as given to rpc_channel_call() */
  enum rpc_status status; /* the call's outcome */
  char message[256];      /* the status message, cut to fit; "" when OK */
  void *reply;            /* owned bytes when OK, else NULL: rpc_completion_release() */
  size_t reply_bytes;
};

/*
 * Makes a channel to `target` ("host:port" or any gRPC name). It connects at the
 * first call. `options` may be NULL. Returns 0 and sets *out to an owned
 * channel, or -1 and fills *error.
 */
int rpc_channel_create(const char *target, const struct rpc_channel_options *options,
                       struct rpc_channel **out, struct rpc_error *error);

/*
 * Cancels what is in flight, waits for it, and frees the channel; completions
 * not taken are dropped. Takes NULL.
 */
void rpc_channel_destroy(struct rpc_channel *channel);

/*
 * Starts a unary call of `path` with a copy of `request`. `timeout_ns` is the
 * call's deadline from now in nanoseconds; 0 is none. Its completion comes from
 * rpc_channel_next() with `tag`. Returns 0, or -1 when memory ran out (then no
 * completion follows).
 */
int rpc_channel_call(struct rpc_channel *channel, const char *path, const void *request,
                     size_t request_bytes, int64_t timeout_ns, void *tag);

/*
 * Takes the next completion, waiting at most `wait_ns` nanoseconds (negative:
 * for ever). Returns true and fills *out, which the caller releases; false when
 * the time passed first.
 */
bool rpc_channel_next(struct rpc_channel *channel, int64_t wait_ns, struct rpc_completion *out);

/* Frees the reply. */
void rpc_completion_release(struct rpc_completion *completion);

/* Cancels every call in flight; their completions come as usual. */
void rpc_channel_cancel_all(struct rpc_channel *channel);

/* Calls started whose completion was not taken yet. */
size_t rpc_channel_in_flight(const struct rpc_channel *channel);

#endif
