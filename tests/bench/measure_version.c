/*
 * One sample of the benchmark `versions`: serves one version and drives it with the client
 * simulator, both in this process as in shakesapp, one request in flight.
 *
 * Takes shakesapp's flags; -version, -corpus, -num_requests and those of the server count, the port
 * is any free one. Prints one JSON object: what -num_requests requests, the same number of
 * each known query, cost this process. The first request of each query is not counted.
 */

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <jansson.h>

#include "alloc_counter.h"
#include "app/program.h"
#include "app/serving.h"
#include "client/simulator.h"

/* What the process has used so far. */
struct usage {
  double seconds; /* by a clock without jumps */
  double user_seconds;
  double system_seconds;
  uint64_t minor_page_faults;
  struct alloc_count allocated;
};

/* A series of requests of one query: the counted ones come after the first. */
struct series {
  uint64_t requests;
  struct usage before;
  struct usage *used; /* by all series so far */
};

static double seconds_of(const struct timeval *time) {
  return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void usage_read(struct usage *out) {
  struct timespec now;
  struct rusage process;
  clock_gettime(CLOCK_MONOTONIC, &now);
  getrusage(RUSAGE_SELF, &process);
  *out = (struct usage){
      .seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
      .user_seconds = seconds_of(&process.ru_utime),
      .system_seconds = seconds_of(&process.ru_stime),
      .minor_page_faults = (uint64_t)process.ru_minflt,
  };
  alloc_counter_read(&out->allocated);
}

/* Adds what was used between the two. */
static void usage_add_difference(struct usage *to, const struct usage *before,
                                 const struct usage *after) {
  to->seconds += after->seconds - before->seconds;
  to->user_seconds += after->user_seconds - before->user_seconds;
  to->system_seconds += after->system_seconds - before->system_seconds;
  to->minor_page_faults += after->minor_page_faults - before->minor_page_faults;
  to->allocated.allocations += after->allocated.allocations - before->allocated.allocations;
  to->allocated.bytes += after->allocated.bytes - before->allocated.bytes;
}

/* A round is one request. The first one connects and warms up. */
static void round_ended(void *context, uint64_t round, const struct simulator_tally *tally) {
  struct series *series = context;
  (void)tally;
  if (round == 1)
    usage_read(&series->before);
  if (round == series->requests) {
    struct usage after;
    usage_read(&after);
    usage_add_difference(series->used, &series->before, &after);
  }
}

static int measure_query(const struct query *query, const char *target,
                         const struct signals *signals, struct series *series,
                         struct rpc_error *error) {
  const struct simulator_options options = {
      .size = sizeof(options),
      .target = target,
      .queries = &(struct queries){.items = query, .count = 1},
      .rounds = series->requests,
      .requests_per_round = 1,
      .stop = signals_requested(signals),
      .observer = {.context = series, .round_ended = round_ended},
  };
  struct simulator_tally total;
  enum simulator_outcome outcome = simulator_run(&options, &total, error);
  if (outcome == SIMULATOR_STOPPED)
    rpc_error_set(error, "stopped by %s", signals_name(signals_first(signals)));
  return outcome == SIMULATOR_DONE ? 0 : -1;
}

/* Asks each known query `requests_each` times; on another text than theirs any count is right. */
static int measure(const struct serving *serving, const struct signals *signals,
                   uint64_t requests_each, struct usage *out, struct rpc_error *error) {
  bool counts_are_known = corpus_kind(serving_corpus(serving)) != CORPUS_OTHER;
  struct usage used = {0};
  struct series series = {.requests = 1 + requests_each, .used = &used};
  for (size_t i = 0; i < queries_known.count; i++) {
    struct query query = queries_known.items[i];
    if (!counts_are_known)
      query.count = QUERY_UNCHECKED;
    if (measure_query(&query, serving_target(serving), signals, &series, error) != 0)
      return -1;
  }
  *out = used;
  return 0;
}

static json_t *corpus_json(const struct corpus *corpus) {
  static const char *const kinds[] = {
      [CORPUS_REAL] = "real",
      [CORPUS_STAND_IN] = "generated stand-in",
      [CORPUS_OTHER] = "other",
  };
  return json_pack("{s:s, s:s, s:I, s:I, s:I}",                    //
                   "kind", kinds[corpus_kind(corpus)],             //
                   "folder", corpus_folder(corpus),                //
                   "works", (json_int_t)corpus_work_count(corpus), //
                   "lines", (json_int_t)corpus_lines(corpus),      //
                   "bytes", (json_int_t)corpus_bytes(corpus));
}

static json_t *sample_json(const struct match_version *version, uint64_t requests,
                           const struct usage *used, const struct corpus *corpus) {
  return json_pack("{s:i, s:s, s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:o}",     //
                   "version", version->number,                               //
                   "name", version->name,                                    //
                   "requests", (json_int_t)requests,                         //
                   "seconds", used->seconds,                                 //
                   "user_seconds", used->user_seconds,                       //
                   "system_seconds", used->system_seconds,                   //
                   "minor_page_faults", (json_int_t)used->minor_page_faults, //
                   "allocations", (json_int_t)used->allocated.allocations,   //
                   "allocated_bytes", (json_int_t)used->allocated.bytes,     //
                   "corpus", corpus_json(corpus));
}

/* Returns 0, or -1 when it could not be made or written. */
static int print_json(json_t *json) {
  int status = json != NULL ? json_dumpf(json, stdout, JSON_COMPACT) : -1;
  json_decref(json);
  return status == 0 && fputc('\n', stdout) != EOF && fflush(stdout) == 0 ? 0 : -1;
}

static int run(const struct program_context *context) {
  struct flags flags = *context->flags;
  flags.port = 0;
  uint64_t queries = queries_known.count;
  uint64_t requests_each = ((uint64_t)flags.num_requests + queries - 1) / queries;
  struct serving *serving = NULL;
  struct app_error refused;
  struct rpc_error failure;
  struct usage used;
  int status = EXIT_FAILURE;

  if (serving_start(&flags, NULL, &serving, &refused) != 0) {
    log_line(context->log, "%s", refused.message);
    goto out;
  }
  if (measure(serving, context->signals, requests_each, &used, &failure) != 0) {
    log_line(context->log, "%s", failure.message);
    goto out;
  }
  if (print_json(sample_json(flags.version, queries * requests_each, &used,
                             serving_corpus(serving))) != 0) {
    log_line(context->log, "cannot write the sample to standard output");
    goto out;
  }
  status = EXIT_SUCCESS;
out:
  serving_stop(serving);
  return status;
}

int main(int argc, char **argv) {
  return program_main(PROGRAM_APP, argc, argv, run);
}
