#include "app/driving.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "app/report.h"
#include "client/queries.h"
#include "client/simulator.h"

#define MAX_KNOWN 8

struct driving {
  struct flags flags; /* with the seed that is used */
  struct log *log;
  struct report *report;
  struct queries *from_file; /* of -queries, or NULL */
  struct query known_items[MAX_KNOWN];
  struct queries known; /* the known queries, with or without their counts */
};

static int64_t random_seed(void) {
  uint32_t seed = 0; /* short enough to be typed again */
  ssize_t got = getrandom(&seed, sizeof(seed), 0);
  (void)got;
  return seed != 0 ? (int64_t)seed : 1;
}

static void copy_known_queries(struct driving *driving) {
  assert(queries_known.count <= MAX_KNOWN);
  memcpy(driving->known_items, queries_known.items,
         queries_known.count * sizeof(driving->known_items[0]));
  driving->known = (struct queries){.items = driving->known_items, .count = queries_known.count};
}

static int read_queries(struct driving *driving, struct app_error *error) {
  struct rpc_error reason;
  if (*driving->flags.queries == '\0') {
    copy_known_queries(driving);
    return 0;
  }
  if (queries_read(driving->flags.queries, &driving->from_file, &reason) != 0) {
    app_error_set(error, "-queries: %s", reason.message);
    return -1;
  }
  return 0;
}

int driving_create(const struct flags *flags, struct log *log, struct driving **out,
                   struct app_error *error) {
  struct driving *driving = calloc(1, sizeof(*driving));
  if (driving == NULL) {
    app_error_set(error, "out of memory");
    return -1;
  }
  driving->flags = *flags;
  driving->log = log;
  if (driving->flags.seed == 0)
    driving->flags.seed = random_seed();
  if (read_queries(driving, error) != 0 ||
      report_create(&driving->flags, log, &driving->report, error) != 0) {
    driving_destroy(driving);
    return -1;
  }
  *out = driving;
  return 0;
}

void driving_destroy(struct driving *driving) {
  if (driving == NULL)
    return;
  report_destroy(driving->report);
  queries_free(driving->from_file);
  free(driving);
}

void driving_accept_any_count(struct driving *driving) {
  if (driving->from_file != NULL)
    return;
  for (size_t i = 0; i < driving->known.count; i++)
    driving->known_items[i].count = QUERY_UNCHECKED;
  log_line(driving->log, "the counts of the known queries are not checked on this text: "
                         "give your own with -queries");
}

static int exit_status(const struct flags *flags, enum simulator_outcome outcome, int signal) {
  bool endless = flags->num_rounds == 0 && flags->duration_ns == 0;
  switch (outcome) {
  case SIMULATOR_DONE:
    return EXIT_SUCCESS;
  case SIMULATOR_STOPPED:
    return endless ? EXIT_SUCCESS : 128 + signal;
  case SIMULATOR_FAILED:
    break;
  }
  return EXIT_FAILURE;
}

int driving_run(struct driving *driving, const char *target, const struct signals *signals) {
  const struct flags *flags = &driving->flags;
  struct simulator_options options = {
      .size = sizeof(options),
      .target = target,
      .queries = driving->from_file != NULL ? driving->from_file : &driving->known,
      .rounds = (uint64_t)flags->num_rounds,
      .duration_ns = flags->duration_ns,
      .requests_per_round = (uint64_t)flags->num_requests,
      .concurrency = (uint64_t)flags->concurrency,
      .timeout_ns = flags->timeout_ns,
      .seed = (uint64_t)flags->seed,
      .keep_going = flags->keep_going,
      .stop = signals_requested(signals),
      .observer = report_observer(driving->report),
  };
  struct simulator_tally total;
  struct rpc_error failure;
  struct app_error error;

  log_line(driving->log, "asking %s, %" PRId64 " in flight; -seed %" PRId64 " repeats this run",
           target, flags->concurrency, flags->seed);
  enum simulator_outcome outcome = simulator_run(&options, &total, &failure);
  if (outcome == SIMULATOR_STOPPED)
    log_line(driving->log, "%s: the run ends early", signals_name(signals_first(signals)));
  else if (outcome == SIMULATOR_FAILED)
    log_line(driving->log, "%s", failure.message);
  if (report_finish(driving->report, outcome, &total, &error) != 0) {
    log_line(driving->log, "%s", error.message);
    return EXIT_FAILURE;
  }
  return exit_status(flags, outcome, signals_first(signals));
}
