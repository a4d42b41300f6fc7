#include "rpc/runtime.h"

#include <stdlib.h>

#include <grpc/grpc.h>
#include <grpc/support/log.h>

static void drop_log_line(gpr_log_func_args *line) {
  (void)line;
}

void rpc_runtime_start(void) {
  setenv("GRPC_POLL_STRATEGY", "poll", 0);
  if (getenv("GRPC_VERBOSITY") == NULL && getenv("GRPC_TRACE") == NULL)
    gpr_set_log_function(drop_log_line);
  grpc_init();
}

void rpc_runtime_stop(void) {
  grpc_shutdown_blocking();
}
