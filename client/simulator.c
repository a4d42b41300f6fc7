#include "client/simulator.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "draw.h"
#include "failure.h"
#include "messages.h"
#include "rpc/channel.h"

#define METHOD_PATH "/shakesapp.ShakespeareService/GetMatchCount"

#define OUT_OF_MEMORY "out of memory: give -concurrency less"

/* How long at most a wait goes on before `stop` is looked at again. */
#define TICK_NS INT64_C(50000000)

/* Room for one request in flight: the tag of its call. */
struct slot {
  const struct question *question;
  int64_t started_ns;
  struct slot *next_free;
};

struct run {
  struct simulator_options options; /* defaults filled in */
  struct rpc_channel *channel;
  struct question *questions; /* one for each query */
  struct slot *slots;
  struct slot *free_slots;
  struct draw draw;
  int64_t started_ns;
  bool failed; /* some request did, and *error tells about the first */
  bool ending; /* no request starts any more, and no completion counts */
  struct rpc_error *error;
  uint64_t asked;               /* requests started in the current round */
  struct simulator_tally round; /* the current round */
};

double simulator_tally_rate(const struct simulator_tally *tally) {
  if (tally->elapsed_ns <= 0)
    return 0;
  return (double)tally->requests * 1e9 / (double)tally->elapsed_ns;
}

uint64_t simulator_tally_errors(const struct simulator_tally *tally) {
  return tally->requests - tally->by_status[RPC_OK] + tally->wrong;
}

static void tally_merge(struct simulator_tally *into, const struct simulator_tally *from) {
  into->requests += from->requests;
  for (size_t i = 0; i < RPC_STATUS_COUNT; i++)
    into->by_status[i] += from->by_status[i];
  into->wrong += from->wrong;
  into->elapsed_ns += from->elapsed_ns;
  latency_merge(&into->latency, &from->latency);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_time_over(const struct run *run) {
  int64_t limit_ns = run->options.duration_ns;
  return limit_ns > 0 && now_ns() - run->started_ns >= limit_ns;
}

/* Ends the run early: what is in flight comes back at once. */
static void run_end(struct run *run) {
  run->ending = true;
  rpc_channel_cancel_all(run->channel);
}

static void stop_poll(struct run *run) {
  const atomic_bool *stop = run->options.stop;
  if (stop != NULL && !run->ending && atomic_load_explicit(stop, memory_order_relaxed))
    run_end(run);
}

static void slot_release(struct run *run, struct slot *slot) {
  slot->next_free = run->free_slots;
  run->free_slots = slot;
}

static void request_start(struct run *run) {
  struct slot *slot = run->free_slots;
  run->free_slots = slot->next_free;
  slot->question = &run->questions[draw_below(&run->draw, run->options.queries->count)];
  slot->started_ns = now_ns();
  if (rpc_channel_call(run->channel, METHOD_PATH, slot->question->request,
                       slot->question->request_bytes, run->options.timeout_ns, slot) == 0) {
    run->asked++;
    return;
  }
  slot_release(run, slot);
  if (!run->failed)
    rpc_error_set(run->error, OUT_OF_MEMORY);
  run->failed = true;
  run_end(run);
}

/* Keeps as many requests in flight as there may be. */
static void requests_fill(struct run *run) {
  while (!run->ending && run->free_slots != NULL && run->asked < run->options.requests_per_round &&
         !is_time_over(run))
    request_start(run);
}

/* Adds a finished request to the round; the first one that is not right is the run's error. */
static void request_count(struct run *run, const struct slot *slot,
                          const struct rpc_completion *completion) {
  const struct query *query = slot->question->query;
  struct failure outcome = {
      .target = run->options.target,
      .phrase = query->phrase,
      .status = completion->status,
      .reason = completion->message,
      .elapsed_ns = now_ns() - slot->started_ns,
  };
  int64_t answered = 0;
  if (outcome.status == RPC_OK &&
      !answer_unpack(completion->reply, completion->reply_bytes, &answered)) {
    outcome.status = RPC_INTERNAL;
    outcome.reason = "the answer is no ShakespeareResponse";
  }
  bool ok = outcome.status == RPC_OK;
  bool wrong = ok && query->count != QUERY_UNCHECKED && answered != query->count;

  run->round.requests++;
  run->round.by_status[outcome.status]++;
  run->round.wrong += wrong;
  latency_record(&run->round.latency, outcome.elapsed_ns);
  if (run->failed)
    return;
  if (wrong)
    failure_describe_wrong(query, answered, run->error);
  else if (!ok)
    failure_describe(&outcome, run->error);
  run->failed = wrong || !ok;
}

/* Waits a tick at most for one completion. */
static void request_take(struct run *run) {
  struct rpc_completion completion;
  if (!rpc_channel_next(run->channel, TICK_NS, &completion))
    return;
  struct slot *slot = completion.tag;
  slot_release(run, slot);
  if (!run->ending) {
    request_count(run, slot, &completion);
    const struct simulator_observer *observer = &run->options.observer;
    if (observer->request_done != NULL)
      observer->request_done(observer->context, run->round.requests,
                             run->options.requests_per_round);
    if (run->failed && !run->options.keep_going)
      run_end(run);
  }
  rpc_completion_release(&completion);
}

static void round_run(struct run *run, uint64_t number) {
  const struct simulator_observer *observer = &run->options.observer;
  if (observer->round_started != NULL)
    observer->round_started(observer->context, number);
  memset(&run->round, 0, sizeof(run->round));
  run->asked = 0;
  int64_t started_ns = now_ns();
  requests_fill(run);
  while (rpc_channel_in_flight(run->channel) > 0) {
    request_take(run);
    stop_poll(run);
    requests_fill(run);
  }
  run->round.elapsed_ns = now_ns() - started_ns;
  if (observer->round_ended != NULL)
    observer->round_ended(observer->context, number, &run->round);
}

static enum simulator_outcome rounds_run(struct run *run, struct simulator_tally *total) {
  run->started_ns = now_ns();
  for (uint64_t number = 1; run->options.rounds == 0 || number <= run->options.rounds; number++) {
    stop_poll(run);
    if (run->ending || is_time_over(run))
      break;
    round_run(run, number);
    tally_merge(total, &run->round);
  }
  if (run->failed)
    return SIMULATOR_FAILED;
  return run->ending ? SIMULATOR_STOPPED : SIMULATOR_DONE;
}

static struct simulator_options options_resolve(const struct simulator_options *given) {
  struct simulator_options options = {0};
  memcpy(&options, given, given->size < sizeof(options) ? given->size : sizeof(options));
  if (options.target == NULL)
    options.target = "127.0.0.1:7788";
  if (options.queries == NULL)
    options.queries = &queries_known;
  if (options.requests_per_round == 0)
    options.requests_per_round = 20;
  if (options.concurrency == 0)
    options.concurrency = 1;
  return options;
}

static int run_prepare(struct run *run) {
  const struct simulator_options *options = &run->options;
  uint64_t slots = options->concurrency < options->requests_per_round ? options->concurrency
                                                                      : options->requests_per_round;
  run->slots = calloc(slots, sizeof(*run->slots));
  run->questions = questions_pack(options->queries);
  if (run->slots == NULL || run->questions == NULL) {
    rpc_error_set(run->error, OUT_OF_MEMORY);
    return -1;
  }
  for (uint64_t i = 0; i < slots; i++)
    slot_release(run, &run->slots[i]);
  run->draw.state = options->seed;
  return rpc_channel_create(options->target, NULL, &run->channel, run->error);
}

static void run_destroy(struct run *run) {
  rpc_channel_destroy(run->channel);
  free(run->questions);
  free(run->slots);
  free(run);
}

enum simulator_outcome simulator_run(const struct simulator_options *options,
                                     struct simulator_tally *out_total, struct rpc_error *error) {
  memset(out_total, 0, sizeof(*out_total));
  struct run *run = calloc(1, sizeof(*run));
  if (run == NULL) {
    rpc_error_set(error, OUT_OF_MEMORY);
    return SIMULATOR_FAILED;
  }
  run->options = options_resolve(options);
  run->error = error;
  enum simulator_outcome outcome = SIMULATOR_FAILED;
  if (run_prepare(run) == 0)
    outcome = rounds_run(run, out_total);
  run_destroy(run);
  return outcome;
}
