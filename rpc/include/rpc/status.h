#ifndef RPC_STATUS_H
#define RPC_STATUS_H

#include <stdbool.h>

/*
 * The canonical gRPC status codes, with the values that go over the wire.
 * Source: https://grpc.io/docs/guides/status-codes/
 */
enum rpc_status {
  RPC_OK = 0,
  RPC_CANCELLED = 1,
  RPC_UNKNOWN = 2,
  RPC_INVALID_ARGUMENT = 3,
  RPC_DEADLINE_EXCEEDED = 4,
  RPC_NOT_FOUND = 5,
  RPC_ALREADY_EXISTS = 6,
  RPC_PERMISSION_DENIED = 7,
  RPC_RESOURCE_EXHAUSTED = 8,
  RPC_FAILED_PRECONDITION = 9,
  RPC_ABORTED = 10,
  RPC_OUT_OF_RANGE = 11,
  RPC_UNIMPLEMENTED = 12,
  RPC_INTERNAL = 13,
  RPC_UNAVAILABLE = 14,
  RPC_DATA_LOSS = 15,
  RPC_UNAUTHENTICATED = 16,
};

/* How many codes there are: each code is below this. */
#define RPC_STATUS_COUNT 17

/*
 * The code's canonical name, such as "RESOURCE_EXHAUSTED"; "UNKNOWN" for a
 * number that is no code. Static storage; any thread.
 */
const char *rpc_status_name(enum rpc_status status);

#endif
