#include "app/program.h"

#include <stdlib.h>
#include <unistd.h>

#include "rpc/runtime.h"

#define EXIT_USAGE 2

static int print_help(const struct flags *flags) {
  flags_print_help(flags, stdout);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_with_signals(const struct flags *flags,
                            int (*run)(const struct program_context *context)) {
  struct log log;
  struct signals *signals;
  struct app_error error;
  int status = EXIT_FAILURE;

  log_init(&log, STDERR_FILENO);
  signals_block();
  rpc_runtime_start(); /* before there are other threads, since it sets the environment */
  if (signals_start(&signals, &error) == 0) {
    status = run(&(struct program_context){.flags = flags, .log = &log, .signals = signals});
    signals_stop(signals);
  } else {
    log_line(&log, "%s", error.message);
  }
  rpc_runtime_stop();
  log_fini(&log);
  return status;
}

int program_main(enum program program, int argc, char **argv,
                 int (*run)(const struct program_context *context)) {
  struct flags flags;
  struct app_error error;
  if (flags_parse(program, argc, argv, &flags, &error) != 0) {
    fprintf(stderr, "%s\n", error.message);
    return EXIT_USAGE;
  }
  return flags.help != FLAGS_HELP_NONE ? print_help(&flags) : run_with_signals(&flags, run);
}
