#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/* A subcommand of folio: one row of the table in commands.c. */
struct command {
  const char *name;
  const char *summary; /* for `folio -help` */
  /* argv[0] is the command's name. Returns the exit status. */
  int (*run)(int argc, char **argv);
};

#define EXIT_USAGE 2

int top_run(int argc, char **argv);

#endif
