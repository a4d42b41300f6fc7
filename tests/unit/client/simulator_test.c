/* The simulator against a real server over loopback. */
#include "client/simulator.h"

#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_server.h"
#include "rpc/runtime.h"

#define MILLISECOND_NS INT64_C(1000000)

/* What the observer was told. */
struct record {
  uint64_t rounds_started;
  uint64_t rounds_ended;
  uint64_t requests_done; /* in the current round */
  bool out_of_order;
  struct simulator_tally sum; /* of the rounds */
  struct fake_server *stops;  /* when a round ended; NULL is none */
};

struct fixture {
  struct fake_server fake;
  struct simulator_options options;
  struct simulator_tally total;
  struct rpc_error error;
  struct record record;
};

static void on_round_started(void *context, uint64_t round) {
  struct record *record = context;
  record->out_of_order |= round != ++record->rounds_started;
  record->out_of_order |= record->rounds_started != record->rounds_ended + 1;
  record->requests_done = 0;
}

static void on_request_done(void *context, uint64_t done, uint64_t of) {
  struct record *record = context;
  record->out_of_order |= done != ++record->requests_done || done > of;
}

static void on_round_ended(void *context, uint64_t round, const struct simulator_tally *tally) {
  struct record *record = context;
  record->out_of_order |= round != ++record->rounds_ended;
  record->out_of_order |= record->requests_done != tally->requests;
  record->sum.requests += tally->requests;
  for (size_t i = 0; i < RPC_STATUS_COUNT; i++)
    record->sum.by_status[i] += tally->by_status[i];
  record->sum.wrong += tally->wrong;
  record->sum.elapsed_ns += tally->elapsed_ns;
  latency_merge(&record->sum.latency, &tally->latency);
  if (record->stops != NULL)
    fake_server_stop(record->stops);
}

static struct fixture *fixture_create(void) {
  struct fixture *fixture = calloc(1, sizeof(*fixture));
  assert_non_null(fixture);
  fixture->options = (struct simulator_options){
      .size = sizeof(fixture->options),
      .target = fixture->fake.target,
      .rounds = 1,
      .observer = {.context = &fixture->record,
                   .round_started = on_round_started,
                   .request_done = on_request_done,
                   .round_ended = on_round_ended},
  };
  return fixture;
}

static void fixture_destroy(struct fixture *fixture) {
  fake_server_stop(&fixture->fake);
  free(fixture);
}

static int fixture_setup(void **state) {
  *state = fixture_create();
  return 0;
}

static int fixture_teardown(void **state) {
  fixture_destroy(*state);
  return 0;
}

/* Runs, and checks what is true of every run. The server has stopped when it returns. */
static enum simulator_outcome run(struct fixture *fixture) {
  enum simulator_outcome outcome =
      simulator_run(&fixture->options, &fixture->total, &fixture->error);
  fake_server_stop(&fixture->fake);
  const struct simulator_tally *total = &fixture->total;
  const struct record *record = &fixture->record;
  assert_false(record->out_of_order);
  assert_int_equal(record->rounds_ended, record->rounds_started);
  assert_memory_equal(total, &record->sum, sizeof(*total));
  assert_int_equal(total->latency.count, total->requests);
  uint64_t finished = 0;
  for (size_t i = 0; i < RPC_STATUS_COUNT; i++)
    finished += total->by_status[i];
  assert_int_equal(finished, total->requests);
  return outcome;
}

static void assert_done(struct fixture *fixture) {
  enum simulator_outcome outcome = run(fixture);
  assert_string_equal(fixture->error.message, "");
  assert_int_equal(outcome, SIMULATOR_DONE);
  assert_int_equal(simulator_tally_errors(&fixture->total), 0);
}

/* The error is `beginning`, any bytes, `ending`. */
static void assert_error(const struct fixture *fixture, const char *beginning, const char *ending) {
  const char *message = fixture->error.message;
  size_t length = strlen(message);
  if (length < strlen(beginning) + strlen(ending) ||
      strncmp(message, beginning, strlen(beginning)) != 0 ||
      strcmp(message + length - strlen(ending), ending) != 0)
    fail_msg("the error is: %s\nexpected: %s ... %s", message, beginning, ending);
}

static void test_counts_rounds_and_requests(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.rounds = 3;
  assert_done(fixture);
  assert_int_equal(fixture->record.rounds_ended, 3);
  assert_int_equal(fixture->total.requests, 60);
  assert_int_equal(fixture->total.by_status[RPC_OK], 60);
  assert_int_equal(fixture->fake.calls, 60);
  assert_true(simulator_tally_rate(&fixture->total) > 0);
  assert_in_range(fixture->total.latency.max_ns, 1, fixture->total.elapsed_ns);
}

static void test_more_concurrency_than_requests(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.requests_per_round = 5;
  fixture->options.concurrency = UINT64_MAX;
  assert_done(fixture);
  assert_int_equal(fixture->total.requests, 5);
}

/* Runs of 64 requests in all; leaves what was asked in *out. */
enum {
  ASKED = 64
};

static void asked_by(uint64_t seed, uint64_t concurrency, uint64_t rounds, size_t out[ASKED]) {
  struct fixture *fixture = fixture_create();
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.seed = seed;
  fixture->options.concurrency = concurrency;
  fixture->options.rounds = rounds;
  fixture->options.requests_per_round = ASKED / rounds;
  assert_done(fixture);
  assert_int_equal(fixture->fake.calls, ASKED);
  memcpy(out, fixture->fake.asked, ASKED * sizeof(out[0]));
  fixture_destroy(fixture);
}

static int compare(const void *left, const void *right) {
  size_t a = *(const size_t *)left;
  size_t b = *(const size_t *)right;
  return (a > b) - (a < b);
}

static void test_the_seed_fixes_the_queries(void **state) {
  (void)state;
  size_t first[ASKED], again[ASKED], other_rounds[ASKED], other_seed[ASKED], eight[ASKED];
  asked_by(7, 1, 1, first);
  asked_by(7, 1, 1, again);
  asked_by(7, 1, 4, other_rounds);
  asked_by(8, 1, 1, other_seed);
  asked_by(7, 8, 1, eight);
  assert_memory_equal(again, first, sizeof(first));
  assert_memory_equal(other_rounds, first, sizeof(first));
  assert_memory_not_equal(other_seed, first, sizeof(first));

  /* Eight at once arrive in any order, but they are the same. */
  qsort(first, ASKED, sizeof(first[0]), compare);
  qsort(eight, ASKED, sizeof(eight[0]), compare);
  assert_memory_equal(eight, first, sizeof(first));
  assert_int_equal(first[0], 0);
  assert_int_equal(first[ASKED - 1], queries_known.count - 1);
}

struct fours {
  pthread_barrier_t barrier;
  atomic_int in_flight;
  atomic_bool exceeded;
};

/* Answers when four calls are in progress: fewer would never end. */
static void answer_in_fours(struct fake_server *fake, struct rpc_call *call, size_t query,
                            uint64_t index) {
  struct fours *fours = fake->context;
  if (atomic_fetch_add(&fours->in_flight, 1) >= 4)
    atomic_store(&fours->exceeded, true);
  pthread_barrier_wait(&fours->barrier);
  atomic_fetch_sub(&fours->in_flight, 1);
  fake_answer_right(fake, call, query, index);
}

static void test_keeps_the_concurrency(void **state) {
  struct fixture *fixture = *state;
  struct fours fours = {0};
  pthread_barrier_init(&fours.barrier, NULL, 4);
  fake_server_start(&fixture->fake, answer_in_fours, &fours);
  fixture->options.requests_per_round = 40;
  fixture->options.rounds = 2;
  fixture->options.concurrency = 4;
  assert_done(fixture);
  pthread_barrier_destroy(&fours.barrier);
  assert_int_equal(fixture->fake.calls, 80);
  assert_false(atomic_load(&fours.exceeded));
}

static void test_a_wrong_answer_ends_the_run(void **state) {
  struct fixture *fixture = *state;
  static const struct query item = {"insolence", 14};
  static const struct queries queries = {&item, 1};
  fake_server_start(&fixture->fake, fake_answer_one_more, NULL);
  fixture->options.queries = &queries;
  assert_int_equal(run(fixture), SIMULATOR_FAILED);
  assert_string_equal(fixture->error.message,
                      "\"insolence\" was answered 15, expected 14: the server's text or code is "
                      "wrong (for another text give -queries)");
  assert_int_equal(fixture->total.requests, 1);
  assert_int_equal(fixture->total.by_status[RPC_OK], 1);
  assert_int_equal(fixture->total.wrong, 1);
  assert_int_equal(simulator_tally_errors(&fixture->total), 1);
}

static void test_an_unchecked_count_is_never_wrong(void **state) {
  struct fixture *fixture = *state;
  static const struct query item = {"insolence", QUERY_UNCHECKED};
  static const struct queries queries = {&item, 1};
  fake_server_start(&fixture->fake, fake_answer_one_more, NULL);
  fixture->options.queries = &queries;
  assert_done(fixture);
  assert_int_equal(fixture->total.requests, 20);
}

static void test_an_unreadable_answer_is_internal(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_garbage, NULL);
  assert_int_equal(run(fixture), SIMULATOR_FAILED);
  assert_int_equal(fixture->total.by_status[RPC_INTERNAL], 1);
  assert_error(fixture, "request \"",
               "s: the answer is no ShakespeareResponse; look at what the server logged");
}

/* Of four answers two are right, the third is a refusal, the fourth is wrong. */
static void answer_half_well(struct fake_server *fake, struct rpc_call *call, size_t query,
                             uint64_t index) {
  if (index % 4 == 2)
    rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, "too many\ncalls");
  else if (index % 4 == 3)
    fake_answer_one_more(fake, call, query, index);
  else
    fake_answer_right(fake, call, query, index);
}

static void test_keep_going_counts_the_errors(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, answer_half_well, NULL);
  fixture->options.requests_per_round = 40;
  fixture->options.rounds = 2;
  fixture->options.keep_going = true;
  assert_int_equal(run(fixture), SIMULATOR_FAILED);
  assert_int_equal(fixture->record.rounds_ended, 2);
  assert_int_equal(fixture->total.requests, 80);
  assert_int_equal(fixture->total.by_status[RPC_OK], 60);
  assert_int_equal(fixture->total.by_status[RPC_RESOURCE_EXHAUSTED], 20);
  assert_int_equal(fixture->total.wrong, 20);
  assert_int_equal(simulator_tally_errors(&fixture->total), 40);
  assert_error(fixture, "request \"",
               "s: too many\\x0acalls; give -concurrency less, or the server a higher "
               "-max_in_flight");
}

/* Of four calls in progress the last to come fails, the others would never end. */
static void answer_fourth_with_failure(struct fake_server *fake, struct rpc_call *call,
                                       size_t query, uint64_t index) {
  if (index == 3)
    rpc_call_fail(call, RPC_ABORTED, "the fourth");
  else
    fake_answer_never(fake, call, query, index);
}

static void test_an_error_cancels_the_others(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, answer_fourth_with_failure, NULL);
  fixture->options.concurrency = 4;
  assert_int_equal(run(fixture), SIMULATOR_FAILED);
  assert_int_equal(fixture->total.requests, 1);
  assert_int_equal(fixture->total.by_status[RPC_ABORTED], 1);
  assert_int_equal(fixture->fake.calls, 4);
  assert_error(fixture, "request \"", "s: the fourth; look at what the server logged");
}

static void test_a_deadline_passes(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_never, NULL);
  fixture->options.timeout_ns = 50 * MILLISECOND_NS;
  assert_int_equal(run(fixture), SIMULATOR_FAILED);
  assert_int_equal(fixture->total.requests, 1);
  assert_int_equal(fixture->total.by_status[RPC_DEADLINE_EXCEEDED], 1);
  assert_in_range(fixture->total.latency.max_ns, 45 * MILLISECOND_NS, 30000 * MILLISECOND_NS);
  assert_error(fixture, "request \"", "; give -timeout more");
  assert_non_null(strstr(fixture->error.message, " failed: DEADLINE_EXCEEDED after "));
}

/* A port that is bound, so that nobody else has it, and where nothing listens. */
static int dead_port_open(char *target, size_t target_bytes) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof(address);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
  snprintf(target, target_bytes, "127.0.0.1:%d", ntohs(address.sin_port));
  return fd;
}

static void test_nothing_listens(void **state) {
  struct fixture *fixture = *state;
  int fd = dead_port_open(fixture->fake.target, sizeof(fixture->fake.target));
  assert_int_equal(run(fixture), SIMULATOR_FAILED);
  close(fd);
  assert_int_equal(fixture->total.requests, 1);
  assert_int_equal(fixture->total.by_status[RPC_UNAVAILABLE], 1);
  char beginning[64];
  snprintf(beginning, sizeof(beginning), "cannot reach %s: ", fixture->fake.target);
  assert_error(fixture, beginning, "; is the server running? Start it with shakesapp-server");
  assert_non_null(strstr(fixture->error.message, "Connection refused"));
}

static void test_the_server_ends_between_rounds(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.rounds = 0;
  fixture->record.stops = &fixture->fake;
  assert_int_equal(run(fixture), SIMULATOR_FAILED);
  assert_int_equal(fixture->record.rounds_ended, 2);
  assert_int_equal(fixture->total.requests, 21);
  assert_int_equal(fixture->total.by_status[RPC_OK], 20);
  assert_int_equal(fixture->total.by_status[RPC_UNAVAILABLE], 1);
}

struct stopper {
  sem_t entered; /* a call arrived */
  atomic_bool stop;
};

static void answer_never_and_tell(struct fake_server *fake, struct rpc_call *call, size_t query,
                                  uint64_t index) {
  struct stopper *stopper = fake->context;
  sem_post(&stopper->entered);
  fake_answer_never(fake, call, query, index);
}

static void *stop_when_entered(void *context) {
  struct stopper *stopper = context;
  sem_wait(&stopper->entered);
  atomic_store(&stopper->stop, true);
  return NULL;
}

static void test_stop_ends_a_round(void **state) {
  struct fixture *fixture = *state;
  struct stopper stopper = {0};
  sem_init(&stopper.entered, 0, 0);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, stop_when_entered, &stopper), 0);
  fake_server_start(&fixture->fake, answer_never_and_tell, &stopper);
  fixture->options.rounds = 0;
  fixture->options.concurrency = 3;
  fixture->options.stop = &stopper.stop;
  enum simulator_outcome outcome = run(fixture);
  pthread_join(thread, NULL);
  sem_destroy(&stopper.entered);
  assert_string_equal(fixture->error.message, "");
  assert_int_equal(outcome, SIMULATOR_STOPPED);
  assert_int_equal(fixture->record.rounds_ended, 1);
  assert_int_equal(fixture->total.requests, 0);
  assert_true(simulator_tally_rate(&fixture->total) == 0);
  assert_in_range(fixture->total.elapsed_ns, 1, 10000 * MILLISECOND_NS);
}

static void test_stopped_before_it_begins(void **state) {
  struct fixture *fixture = *state;
  atomic_bool stop = true;
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.stop = &stop;
  assert_int_equal(run(fixture), SIMULATOR_STOPPED);
  assert_int_equal(fixture->record.rounds_started, 0);
  assert_int_equal(fixture->fake.calls, 0);
}

static void test_the_duration_cuts_a_round(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.rounds = 0;
  fixture->options.requests_per_round = UINT64_MAX;
  fixture->options.concurrency = 2;
  fixture->options.duration_ns = 100 * MILLISECOND_NS;
  assert_done(fixture);
  assert_int_equal(fixture->record.rounds_ended, 1);
  assert_in_range(fixture->total.requests, 1, UINT64_MAX - 1);
  assert_int_equal(fixture->fake.calls, fixture->total.requests);
  assert_in_range(fixture->total.elapsed_ns, 90 * MILLISECOND_NS, 30000 * MILLISECOND_NS);
}

static void test_the_duration_ends_endless_rounds(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.rounds = 0;
  fixture->options.requests_per_round = 1;
  fixture->options.duration_ns = 50 * MILLISECOND_NS;
  assert_done(fixture);
  assert_in_range(fixture->record.rounds_ended, 1, 1000000);
  assert_int_equal(fixture->fake.calls, fixture->total.requests);
}

static void test_a_shorter_options_struct_has_the_defaults(void **state) {
  struct fixture *fixture = *state;
  fake_server_start(&fixture->fake, fake_answer_right, NULL);
  fixture->options.size = offsetof(struct simulator_options, duration_ns);
  fixture->options.requests_per_round = 1;
  assert_int_equal(simulator_run(&fixture->options, &fixture->total, &fixture->error),
                   SIMULATOR_DONE);
  assert_int_equal(fixture->total.requests, 20);
  assert_int_equal(fixture->record.rounds_started, 0);
}

static void test_rate(void **state) {
  struct simulator_tally *tally = &((struct fixture *)*state)->total;
  tally->requests = 20;
  assert_true(simulator_tally_rate(tally) == 0);
  tally->elapsed_ns = 2000 * MILLISECOND_NS;
  assert_true(simulator_tally_rate(tally) == 10);
}

static int runtime_setup(void **state) {
  (void)state;
  rpc_runtime_start();
  return 0;
}

static int runtime_teardown(void **state) {
  (void)state;
  rpc_runtime_stop();
  return 0;
}

#define simulator_test(function)                                                                   \
  cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      simulator_test(test_counts_rounds_and_requests),
      simulator_test(test_more_concurrency_than_requests),
      cmocka_unit_test(test_the_seed_fixes_the_queries),
      simulator_test(test_keeps_the_concurrency),
      simulator_test(test_a_wrong_answer_ends_the_run),
      simulator_test(test_an_unchecked_count_is_never_wrong),
      simulator_test(test_an_unreadable_answer_is_internal),
      simulator_test(test_keep_going_counts_the_errors),
      simulator_test(test_an_error_cancels_the_others),
      simulator_test(test_a_deadline_passes),
      simulator_test(test_nothing_listens),
      simulator_test(test_the_server_ends_between_rounds),
      simulator_test(test_stop_ends_a_round),
      simulator_test(test_stopped_before_it_begins),
      simulator_test(test_the_duration_cuts_a_round),
      simulator_test(test_the_duration_ends_endless_rounds),
      simulator_test(test_a_shorter_options_struct_has_the_defaults),
      simulator_test(test_rate),
  };
  return cmocka_run_group_tests_name("client/simulator", tests, runtime_setup, runtime_teardown);
}
