#ifndef APP_REPORT_JSON_H
#define APP_REPORT_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "client/simulator.h"

/* The objects of the -json file; docs/flags.md describes them. NULL when memory ran out. */

struct report_summary {
  const char *program;
  int version; /* 0 is none */
  int64_t seed;
  int64_t concurrency;
  uint64_t rounds;
  double cpu_seconds;
  int64_t minor_page_faults;
  const char *outcome;
  const struct simulator_tally *total;
};

json_t *report_round_json(uint64_t round, const struct simulator_tally *tally);
json_t *report_summary_json(const struct report_summary *summary);

#endif
