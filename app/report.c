#include "app/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "app/duration.h"
#include "report_json.h"

#define MICROSECOND_NS INT64_C(1000)
#define MILLISECOND_NS INT64_C(1000000)
#define SECOND_NS INT64_C(1000000000)

/* Progress is shown in rounds that take longer than this, and this often. */
#define PROGRESS_AFTER_NS SECOND_NS
#define PROGRESS_EVERY_NS (200 * MILLISECOND_NS)

struct report {
  const struct flags *flags;
  struct log *log;
  FILE *json;      /* NULL is none */
  int json_errno;  /* of the first write that failed */
  uint64_t rounds; /* ended */
  struct rusage usage_at_start;
  int64_t round_start_ns;
  int64_t progress_due_ns;
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * SECOND_NS + now.tv_nsec;
}

int report_create(const struct flags *flags, struct log *log, struct report **out,
                  struct app_error *error) {
  struct report *report = calloc(1, sizeof(*report));
  if (report == NULL) {
    app_error_set(error, "out of memory");
    return -1;
  }
  report->flags = flags;
  report->log = log;
  if (strcmp(flags->json, "-") == 0) {
    report->json = stdout;
  } else if (*flags->json != '\0') {
    report->json = fopen(flags->json, "we");
    if (report->json == NULL) {
      app_error_set(error, "-json: cannot write %s: %s; name a file that can be written",
                    flags->json, strerror(errno));
      free(report);
      return -1;
    }
  }
  *out = report;
  return 0;
}

void report_destroy(struct report *report) {
  if (report == NULL)
    return;
  if (report->json != NULL && report->json != stdout)
    fclose(report->json);
  free(report);
}

/* Writes one line of JSON and takes the object. */
static void write_json(struct report *report, json_t *object) {
  if (report->json_errno != 0) {
    json_decref(object);
    return;
  }
  errno = ENOMEM; /* of an object that could not be made */
  if (object == NULL ||
      json_dumpf(object, report->json, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0 ||
      fputc('\n', report->json) == EOF || fflush(report->json) != 0)
    report->json_errno = errno;
  json_decref(object);
}

static void round_started(void *context, uint64_t round) {
  struct report *report = context;
  if (report->round_start_ns == 0)
    getrusage(RUSAGE_SELF, &report->usage_at_start);
  report->round_start_ns = now_ns();
  report->progress_due_ns = report->round_start_ns + PROGRESS_AFTER_NS;
  log_line(report->log, "Simulating client requests, round %" PRIu64, round);
}

static void request_done(void *context, uint64_t done, uint64_t of) {
  struct report *report = context;
  int64_t now = now_ns();
  if (now >= report->progress_due_ns) {
    char elapsed[DURATION_TEXT_BYTES];
    duration_format(duration_round(now - report->round_start_ns, 100 * MILLISECOND_NS), elapsed);
    log_progress(report->log, "%" PRIu64 " of %" PRIu64 " requests in %s", done, of, elapsed);
    report->progress_due_ns = now + PROGRESS_EVERY_NS;
  }
}

static void round_ended(void *context, uint64_t round, const struct simulator_tally *tally) {
  struct report *report = context;
  char elapsed[DURATION_TEXT_BYTES];
  report->rounds++;
  duration_format(duration_round(tally->elapsed_ns, 10 * MILLISECOND_NS), elapsed);
  log_line(report->log, "Simulated %" PRIu64 " requests in %s, rate of %f reqs / sec",
           tally->requests, elapsed, simulator_tally_rate(tally));
  if (report->json != NULL)
    write_json(report, report_round_json(round, tally));
}

struct simulator_observer report_observer(struct report *report) {
  return (struct simulator_observer){
      .context = report,
      .round_started = round_started,
      .request_done = log_shows_progress(report->log) ? request_done : NULL,
      .round_ended = round_ended,
  };
}

static void log_answers(struct log *log, const struct simulator_tally *total) {
  char errors[512] = "no errors";
  size_t used = 0;
  for (int status = RPC_OK + 1; status < RPC_STATUS_COUNT && used < sizeof(errors); status++) {
    if (total->by_status[status] > 0) {
      used += (size_t)snprintf(errors + used, sizeof(errors) - used, "%s%" PRIu64 " %s",
                               used == 0 ? "errors: " : ", ", total->by_status[status],
                               rpc_status_name((enum rpc_status)status));
    }
  }
  log_line(log, "Answers: %" PRIu64 ", wrong: %" PRIu64 "; %s", total->by_status[RPC_OK],
           total->wrong, errors);
}

static void log_latency(struct log *log, const struct latency *latency) {
  const double quantiles[] = {0.50, 0.90, 0.99};
  char texts[3][DURATION_TEXT_BYTES];
  char max[DURATION_TEXT_BYTES];
  for (int i = 0; i < 3; i++) {
    duration_format(duration_round(latency_quantile_ns(latency, quantiles[i]), MICROSECOND_NS),
                    texts[i]);
  }
  duration_format(duration_round(latency->max_ns, MICROSECOND_NS), max);
  log_line(log, "Latency: p50 %s, p90 %s, p99 %s, max %s", texts[0], texts[1], texts[2], max);
}

static void log_summary(struct report *report, const struct simulator_tally *total) {
  char elapsed[DURATION_TEXT_BYTES];
  duration_format(duration_round(total->elapsed_ns, 10 * MILLISECOND_NS), elapsed);
  log_line(report->log,
           "Total: %" PRIu64 " requests in %" PRIu64 " round%s and %s, %f requests a second",
           total->requests, report->rounds, report->rounds == 1 ? "" : "s", elapsed,
           simulator_tally_rate(total));
  log_answers(report->log, total);
  log_latency(report->log, &total->latency);
}

static double cpu_seconds(const struct rusage *usage) {
  return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
         (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static json_t *summary_json(const struct report *report, enum simulator_outcome outcome,
                            const struct simulator_tally *total) {
  static const char *const outcomes[] = {
      [SIMULATOR_DONE] = "done",
      [SIMULATOR_STOPPED] = "stopped",
      [SIMULATOR_FAILED] = "failed",
  };
  const struct flags *flags = report->flags;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return report_summary_json(&(struct report_summary){
      .program = program_name(flags->program),
      .version = flags->version != NULL ? flags->version->number : 0,
      .seed = flags->seed,
      .concurrency = flags->concurrency,
      .rounds = report->rounds,
      .cpu_seconds = cpu_seconds(&usage) - cpu_seconds(&report->usage_at_start),
      .minor_page_faults = usage.ru_minflt - report->usage_at_start.ru_minflt,
      .outcome = outcomes[outcome],
      .total = total,
  });
}

int report_finish(struct report *report, enum simulator_outcome outcome,
                  const struct simulator_tally *total, struct app_error *error) {
  log_summary(report, total);
  if (report->json != NULL)
    write_json(report, summary_json(report, outcome, total));
  if (report->json_errno != 0) {
    app_error_set(error, "-json: cannot write %s: %s", report->flags->json,
                  strerror(report->json_errno));
    return -1;
  }
  return 0;
}
