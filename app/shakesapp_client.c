/* The client simulator alone, against the address of -target. */

#include <stdlib.h>

#include "app/driving.h"
#include "app/program.h"

static int run(const struct program_context *context) {
  struct driving *driving;
  struct app_error error;
  if (driving_create(context->flags, context->log, &driving, &error) != 0) {
    log_line(context->log, "%s", error.message);
    return EXIT_FAILURE;
  }
  int status = driving_run(driving, context->flags->target, context->signals);
  driving_destroy(driving);
  return status;
}

int main(int argc, char **argv) {
  return program_main(PROGRAM_CLIENT, argc, argv, run);
}
