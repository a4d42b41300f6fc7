#ifndef APP_PROGRAM_H
#define APP_PROGRAM_H

#include "app/flags.h"
#include "app/log.h"
#include "app/signals.h"

/* What a program runs with; all borrowed until its run() returns. */
struct program_context {
  const struct flags *flags;
  struct log *log;
  struct signals *signals;
};

/*
 * The frame of every main(): takes the flags, answers -help and wrong flags (exit status 2),
 * starts signals and the gRPC core, calls `run` and ends all that. Returns the exit status.
 */
int program_main(enum program program, int argc, char **argv,
                 int (*run)(const struct program_context *context));

#endif
