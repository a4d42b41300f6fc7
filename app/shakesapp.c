/* Server and client simulator in one process: the client drives the server over loopback. */

#include <stdlib.h>

#include "app/driving.h"
#include "app/profiling.h"
#include "app/program.h"
#include "app/serving.h"

static int run(const struct program_context *context) {
  struct driving *driving = NULL;
  struct profiling *profiling = NULL;
  struct serving *serving = NULL;
  struct app_error error;
  int status = EXIT_FAILURE;

  if (driving_create(context->flags, context->log, &driving, &error) != 0 ||
      profiling_start(context->flags, context->log, &profiling, &error) != 0 ||
      serving_start(context->flags, context->log, &serving, &error) != 0) {
    log_line(context->log, "%s", error.message);
    goto out;
  }
  if (corpus_kind(serving_corpus(serving)) == CORPUS_OTHER)
    driving_accept_any_count(driving);
  status = driving_run(driving, serving_target(serving), context->signals);
  serving_drain(serving);
out:
  serving_stop(serving);
  profiling_stop(profiling);
  driving_destroy(driving);
  return status;
}

int main(int argc, char **argv) {
  return program_main(PROGRAM_APP, argc, argv, run);
}
