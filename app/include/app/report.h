#ifndef APP_REPORT_H
#define APP_REPORT_H

#include <stdint.h>

#include "app/error.h"
#include "app/flags.h"
#include "app/log.h"
#include "client/simulator.h"

/*
 * What a run of the client simulator tells: a line before and after each round and
 * a summary in the log, and the same as JSON Lines in the file of the -json flag.
 */
struct report;

/*
 * `flags` and `log` are borrowed for the report's life; `flags->seed` is the seed that is used.
 * Opens the file of -json. Returns 0 and an owned report, or -1 and fills *error.
 */
int report_create(const struct flags *flags, struct log *log, struct report **out,
                  struct app_error *error);

/* Takes NULL. */
void report_destroy(struct report *report);

/* What to hand to simulator_run(); the report is its context. */
struct simulator_observer report_observer(struct report *report);

/*
 * Tells the summary. Returns 0, or -1 and fills *error when the JSON
 * could not be written, now or in a round before.
 */
int report_finish(struct report *report, enum simulator_outcome outcome,
                  const struct simulator_tally *total, struct app_error *error);

#endif
