#ifndef CLI_TOP_REPORT_H
#define CLI_TOP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/error.h"
#include "pprof/top.h"

/* What `folio top` shows of one profile, or of several added up. */
struct top_report {
  char *type; /* of the sample type */
  char *unit;
  int64_t total;
  uint64_t samples;    /* that the files have, those of other types included */
  int64_t time_ns;     /* the earliest; 0 when unknown */
  int64_t duration_ns; /* of all together */
  char **comments;     /* each text once */
  size_t comment_count;
  const struct pprof_top_row *rows;
  size_t row_count;
  struct pprof_top *top;
};

enum top_report_result {
  TOP_REPORT_MADE,
  TOP_REPORT_BAD_FILE, /* the message begins with the file's name */
  TOP_REPORT_BAD_TYPE, /* so it does here: the file has no such sample type */
};

/*
 * Reads the files. `sample_type` NULL is the first file's default. On success the
 * report is filled and must be freed.
 */
enum top_report_result top_report_make(const char *const *paths, size_t path_count,
                                       const char *sample_type, enum pprof_top_order order,
                                       struct top_report *out, char message[512]);

void top_report_fini(struct top_report *report);

/* The share of the total in percent; 0 of nothing. */
double top_report_percent(const struct top_report *report, int64_t value);

/*
 * Write the report to standard output: as a table, or as one JSON object in a line. `max_rows`
 * 0 is all. JSON fails when memory runs out; errors of writing stay on the stream.
 */
void top_report_print_table(const struct top_report *report, size_t max_rows);
int top_report_print_json(const struct top_report *report, size_t max_rows);

#endif
