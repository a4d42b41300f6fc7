#include "cli/commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const struct command commands[] = {
    {"top", "functions by their share of a profile", top_run},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static bool is_help(const char *argument) {
  return strcmp(argument, "-help") == 0 || strcmp(argument, "--help") == 0;
}

static int print_help(void) {
  printf("folio COMMAND ...\n\nReads profiles in pprof's format.\n\n");
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    printf("  %-8s %s\n", commands[i].name, commands[i].summary);
  printf("\nfolio COMMAND -help tells more about each.\n");
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cli_main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "folio: no command given (see folio -help)\n");
    return EXIT_USAGE;
  }
  if (is_help(argv[1]))
    return print_help();
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(commands[i].name, argv[1]) == 0)
      return commands[i].run(argc - 1, argv + 1);
  }
  fprintf(stderr, "folio: no command \"%s\" (see folio -help)\n", argv[1]);
  return EXIT_USAGE;
}
