#ifndef TEST_CLI_CAPTURED_H
#define TEST_CLI_CAPTURED_H

/* What a call wrote to standard output and standard error. */
struct captured {
  int status;
  char out[65536];
  char err[4096];
};

/* Runs call(argument) with both streams caught; its result is the status. */
void capture(int (*call)(void *), void *argument, struct captured *captured);

#endif
