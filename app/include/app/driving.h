#ifndef APP_DRIVING_H
#define APP_DRIVING_H

#include "app/error.h"
#include "app/flags.h"
#include "app/log.h"
#include "app/signals.h"

/* The client's side of a program: queries, simulator and report, from the flags. */
struct driving;

/*
 * Reads the queries, draws the seed and opens the JSON file. `flags` are those of a program
 * that drives; they and `log` are borrowed. Returns 0 and an owned object, or -1 and fills *error.
 */
int driving_create(const struct flags *flags, struct log *log, struct driving **out,
                   struct app_error *error);

/* Takes NULL. */
void driving_destroy(struct driving *driving);

/* The text is another than the one that the known counts belong to: accept any count of these. */
void driving_accept_any_count(struct driving *driving);

/*
 * Runs the rounds against `target` and logs all of it. The first signal ends them early. Returns
 * the program's exit status: 0 when all went right, and after a signal when the run was
 * endless; 1 after a failure; 128 + signal when a signal cut a bounded run short.
 */
int driving_run(struct driving *driving, const char *target, const struct signals *signals);

#endif
