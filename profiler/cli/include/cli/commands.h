#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

/*
 * Runs the program `folio`: the first argument is a command's name, the others are that
 * command's. Returns the exit status: 0, 1 when the work failed, 2 when the
 * arguments are wrong; the reason then stands on standard error, in one line. For
 * the main thread of a program.
 */
int cli_main(int argc, char **argv);

#endif
