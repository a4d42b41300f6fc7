#ifndef CLI_FLAGS_H
#define CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How a flag's value is read and what type its field has. */
enum cli_flag_kind {
  CLI_FLAG_TEXT,   /* const char *, not empty */
  CLI_FLAG_SWITCH, /* bool; needs no value */
  CLI_FLAG_NUMBER, /* int64_t, from min to max */
};

struct cli_flag {
  const char *name;
  const char *placeholder; /* of the value, for -help; NULL where none is needed */
  const char *standard;    /* the default, for -help */
  const char *meaning;
  enum cli_flag_kind kind;
  size_t field;     /* offset in the command's struct */
  int64_t min, max; /* CLI_FLAG_NUMBER: both included */
};

/* All that a command takes: one table serves parsing and -help, which every command has. */
struct cli_syntax {
  const char *command;  /* "folio top" */
  const char *operands; /* "FILE..." */
  const char *purpose;
  const char *example;
  const struct cli_flag *flags;
  size_t flag_count;
};

enum cli_parsed {
  CLI_PARSED,
  CLI_HELP,    /* -help was there and is answered on standard output */
  CLI_REFUSED, /* a line on standard error says why */
};

/*
 * Reads flags into `fields`, which holds the defaults: one or two dashes, `-name value` or
 * `-name=value`, switches without a value or with =true or =false; nothing is
 * abbreviated; the last one of a name counts; "--" ends the flags. Operands may stand
 * between them: they are moved to the end of argv, where *out_operands is the first.
 * Text is borrowed from argv. Uses getopt's globals: for the main thread.
 */
enum cli_parsed cli_parse(const struct cli_syntax *syntax, int argc, char **argv, void *fields,
                          int *out_operands);

/* Writes "COMMAND: message (see COMMAND -help)" to standard error. */
__attribute__((format(printf, 2, 3))) void cli_refuse(const struct cli_syntax *syntax,
                                                      const char *format, ...);

#endif
