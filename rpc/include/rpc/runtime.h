#ifndef RPC_RUNTIME_H
#define RPC_RUNTIME_H

/*
 * Starts the gRPC core; call it first in main(), before other threads exist,
 * because it may set GRPC_POLL_STRATEGY. It picks the poll() based poller,
 * unless the environment names one: with the default poller, client and server
 * threads of one process wake each other all the time (docs/BENCHMARKS.md).
 *
 * The core's own log lines are dropped, since rpc/ reports each error once by
 * its return value, unless GRPC_VERBOSITY or GRPC_TRACE asks for them.
 */
void rpc_runtime_start(void);

/* Releases the core, after every server and channel was destroyed. */
void rpc_runtime_stop(void);

#endif
