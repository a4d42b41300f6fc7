#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "flags.h"
#include "text.h"
#include "top_report.h"

struct top_flags {
  const char *sample_type; /* NULL: the first file's default */
  int64_t rows;            /* 0 is all */
  bool by_cum;
  bool json;
};

static const struct cli_flag top_flags[] = {
    {.name = "sample_type",
     .placeholder = "NAME",
     .standard = "the profile's own, else its last",
     .meaning = "what to count, such as cpu, alloc_space or inuse_objects",
     .kind = CLI_FLAG_TEXT,
     .field = offsetof(struct top_flags, sample_type)},
    {.name = "n",
     .placeholder = "N",
     .standard = "30",
     .meaning = "functions to show; 0 is all",
     .kind = CLI_FLAG_NUMBER,
     .field = offsetof(struct top_flags, rows),
     .max = INT32_MAX},
    {.name = "cum",
     .standard = "false",
     .meaning = "sort by what a function and its callees have together",
     .kind = CLI_FLAG_SWITCH,
     .field = offsetof(struct top_flags, by_cum)},
    {.name = "json",
     .standard = "false",
     .meaning = "print one JSON object, in the profile's own units",
     .kind = CLI_FLAG_SWITCH,
     .field = offsetof(struct top_flags, json)},
};

static const struct cli_syntax top_syntax = {
    .command = "folio top",
    .operands = "FILE...",
    .purpose = "Prints how much of a profile each function has itself (flat) and together with "
               "the functions that it calls (cum). Several files are added up.",
    .example = "folio top -sample_type alloc_space -n 10 heap.pb.gz",
    .flags = top_flags,
    .flag_count = sizeof(top_flags) / sizeof(top_flags[0]),
};

static int fail(char *message) {
  cli_text_make_printable(message);
  fprintf(stderr, "folio top: %s\n", message);
  return EXIT_FAILURE;
}

static int print_report(const struct top_report *report, const struct top_flags *flags) {
  char message[128];
  errno = ENOMEM; /* of an object that could not be made */
  int result = 0;
  if (flags->json)
    result = top_report_print_json(report, (size_t)flags->rows);
  else
    top_report_print_table(report, (size_t)flags->rows);
  if (result != 0 || fflush(stdout) != 0 || ferror(stdout)) {
    snprintf(message, sizeof(message), "cannot write the result: %s", strerror(errno));
    return fail(message);
  }
  return EXIT_SUCCESS;
}

int top_run(int argc, char **argv) {
  struct top_flags flags = {.rows = 30};
  struct top_report report;
  char message[512];
  int first;
  switch (cli_parse(&top_syntax, argc, argv, &flags, &first)) {
  case CLI_HELP:
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  case CLI_REFUSED:
    return EXIT_USAGE;
  case CLI_PARSED:
    break;
  }
  if (first == argc) {
    cli_refuse(&top_syntax, "no file given");
    return EXIT_USAGE;
  }
  switch (top_report_make((const char *const *)(argv + first), (size_t)(argc - first),
                          flags.sample_type, flags.by_cum ? PPROF_TOP_BY_CUM : PPROF_TOP_BY_FLAT,
                          &report, message)) {
  case TOP_REPORT_BAD_FILE:
    return fail(message);
  case TOP_REPORT_BAD_TYPE:
    cli_refuse(&top_syntax, "-sample_type: %s", message);
    return EXIT_USAGE;
  case TOP_REPORT_MADE:
    break;
  }
  int status = print_report(&report, &flags);
  top_report_fini(&report);
  return status;
}
