#ifndef APP_FLAGS_H
#define APP_FLAGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "app/error.h"
#include "match/match.h"

/* The flags of all programs: one table (flags_table.c) serves parsing, -help and docs/flags.md. */

enum program {
  PROGRAM_APP,    /* shakesapp */
  PROGRAM_SERVER, /* shakesapp-server */
  PROGRAM_CLIENT, /* shakesapp-client */
  PROGRAM_COUNT,
};

/* "shakesapp-server": static storage. */
const char *program_name(enum program program);

/* What -help asks for. */
enum flags_help {
  FLAGS_HELP_NONE,
  FLAGS_HELP_TEXT,
  FLAGS_HELP_MARKDOWN, /* the program's section of docs/flags.md */
};

/*
 * The values; what belongs to other programs is zero or NULL. Text is borrowed from argv or
 * static, and never NULL for a flag that the program has.
 */
struct flags {
  enum program program;
  enum flags_help help;
  const struct match_version *version;

  int64_t num_rounds;  /* 0 is endless */
  int64_t duration_ns; /* 0 is none */
  int64_t num_requests;
  int64_t concurrency;
  int64_t timeout_ns; /* 0 is none */
  int64_t seed;       /* 0 is random */
  bool keep_going;
  const char *target;
  const char *queries; /* "" is the known ones */
  const char *json;    /* "" is none */

  const char *listen;
  int64_t port;       /* 0 is any */
  const char *corpus; /* "" is the first of the usual places */
  int64_t max_in_flight;
  int64_t max_request_bytes;
  int64_t queue_threads;
  int64_t worker_threads; /* 0 is one a processor */
  int64_t drain_timeout_ns;

  bool heap;
  bool heap_alloc;
  bool label_query;
  const char *service;
  const char *http;  /* "" is off */
  const char *store; /* "" is the usual folder */
};

/* The program's defaults. */
void flags_init(enum program program, struct flags *out);

/*
 * Takes the program's flags: one or two dashes, `-name value` or `-name=value`, switches
 * without a value or with `=true` or `=false`; nothing is abbreviated; the last one of a name
 * counts; -help ends the reading. Returns 0, or -1 and the line for the user in *error.
 * Uses getopt's globals: for the main thread.
 */
int flags_parse(enum program program, int argc, char **argv, struct flags *out,
                struct app_error *error);

/* Writes what `flags->help` asks for; errors stay on the stream. */
void flags_print_help(const struct flags *flags, FILE *out);

#endif
