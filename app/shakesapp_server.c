/* The server alone, until SIGINT or SIGTERM. */

#include <inttypes.h>
#include <stdlib.h>

#include "app/duration.h"
#include "app/profiling.h"
#include "app/program.h"
#include "app/serving.h"

static void drain(struct serving *serving, const struct program_context *context) {
  struct rpc_server_stats stats;
  char patience[DURATION_TEXT_BYTES];
  const char *signal = signals_name(signals_wait(context->signals));
  duration_format(context->flags->drain_timeout_ns, patience);
  log_line(context->log,
           "%s: finishing the calls in progress within %s; a second signal stops at once", signal,
           patience);
  int cancelled = serving_drain(serving);
  serving_stats(serving, &stats);
  log_line(context->log, "stopped after %" PRIu64 " calls; %d had to be cancelled", stats.calls,
           cancelled);
}

static int run(const struct program_context *context) {
  struct profiling *profiling = NULL;
  struct serving *serving;
  struct app_error error;
  if (profiling_start(context->flags, context->log, &profiling, &error) != 0 ||
      serving_start(context->flags, context->log, &serving, &error) != 0) {
    log_line(context->log, "%s", error.message);
    profiling_stop(profiling);
    return EXIT_FAILURE;
  }
  drain(serving, context);
  serving_stop(serving);
  profiling_stop(profiling);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  return program_main(PROGRAM_SERVER, argc, argv, run);
}
