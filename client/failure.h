#ifndef CLIENT_FAILURE_H
#define CLIENT_FAILURE_H

#include <stdint.h>

#include "client/queries.h"
#include "rpc/error.h"
#include "rpc/status.h"

/* A request that did not end with OK. Everything is borrowed. */
struct failure {
  const char *target;
  const char *phrase;
  enum rpc_status status;
  const char *reason; /* the status message */
  int64_t elapsed_ns;
};

/* Says in one line which request failed, how, and what to do. */
void failure_describe(const struct failure *failure, struct rpc_error *error);

/* Says in one line that the query was answered with another count than the known one. */
void failure_describe_wrong(const struct query *query, int64_t answered, struct rpc_error *error);

#endif
