/* The real server driven by the real channel over loopback. */
#include "rpc/server.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "rpc/channel.h"
#include "rpc/runtime.h"

#define SECOND_NS INT64_C(1000000000)

#define ECHO "/test.Service/Echo"
#define ECHO_ON_QUEUE "/test.Service/EchoOnQueue"
#define FAIL "/test.Service/Fail"
#define SILENT "/test.Service/Silent"
#define HOLD "/test.Service/Hold"

static sem_t held;       /* a Hold handler runs */
static sem_t let_go;     /* it may answer */
static sem_t saw_cancel; /* it noticed the cancellation */

static void echo(struct rpc_call *call, const void *request, size_t bytes, void *context) {
  (void)context;
  rpc_call_reply(call, request, bytes);
}

static void refuse(struct rpc_call *call, const void *request, size_t bytes, void *context) {
  (void)request;
  (void)bytes;
  (void)context;
  rpc_call_fail(call, RPC_FAILED_PRECONDITION, "no such luck");
}

static void silent(struct rpc_call *call, const void *request, size_t bytes, void *context) {
  (void)call;
  (void)request;
  (void)bytes;
  (void)context;
}

/* Answers when it is let go or cancelled, whichever comes first. */
static void hold(struct rpc_call *call, const void *request, size_t bytes, void *context) {
  (void)context;
  const atomic_bool *cancelled = rpc_call_cancelled(call);
  const struct timespec tick = {.tv_nsec = 200000};
  sem_post(&held);
  while (sem_trywait(&let_go) != 0) {
    if (atomic_load(cancelled)) {
      sem_post(&saw_cancel);
      break;
    }
    nanosleep(&tick, NULL);
  }
  rpc_call_reply(call, request, bytes);
}

static const struct rpc_method methods[] = {
    {.path = ECHO, .handler = echo},
    {.path = ECHO_ON_QUEUE, .handler = echo, .on_queue_thread = true},
    {.path = FAIL, .handler = refuse},
    {.path = SILENT, .handler = silent},
    {.path = HOLD, .handler = hold},
};

struct pair {
  struct rpc_server *server;
  struct rpc_channel *channel;
};

static struct rpc_channel *connect_to(const struct rpc_server *server) {
  char target[64];
  struct rpc_channel *channel = NULL;
  snprintf(target, sizeof(target), "127.0.0.1:%d", rpc_server_port(server));
  assert_int_equal(rpc_channel_create(target, NULL, &channel, NULL), 0);
  return channel;
}

static struct pair pair_start(struct rpc_server_options options) {
  struct pair pair = {0};
  struct rpc_error error = {0};
  options.size = sizeof(options);
  sem_init(&held, 0, 0);
  sem_init(&let_go, 0, 0);
  sem_init(&saw_cancel, 0, 0);
  if (rpc_server_start(&options, methods, sizeof(methods) / sizeof(methods[0]), &pair.server,
                       &error) != 0)
    fail_msg("%s", error.message);
  pair.channel = connect_to(pair.server);
  return pair;
}

static void pair_stop(struct pair *pair) {
  rpc_channel_destroy(pair->channel);
  rpc_server_destroy(pair->server);
}

static struct rpc_completion next(struct rpc_channel *channel) {
  struct rpc_completion completion;
  if (!rpc_channel_next(channel, 30 * SECOND_NS, &completion))
    fail_msg("no completion within 30 seconds; in flight: %zu", rpc_channel_in_flight(channel));
  return completion;
}

static struct rpc_completion call_once(struct rpc_channel *channel, const char *path,
                                       const void *request, size_t bytes) {
  assert_int_equal(rpc_channel_call(channel, path, request, bytes, 0, NULL), 0);
  return next(channel);
}

static void start_hold(struct rpc_channel *channel, int64_t timeout_ns) {
  assert_int_equal(rpc_channel_call(channel, HOLD, "h", 1, timeout_ns, NULL), 0);
}

/* Waits for a handler's sign; the channel moves its calls only while it is asked for completions.
 */
static void wait_for(sem_t *sign, struct rpc_channel *channel) {
  struct rpc_completion completion;
  while (sem_trywait(sign) != 0)
    assert_false(rpc_channel_next(channel, SECOND_NS / 1000, &completion));
}

/* Waits for a server's counter to reach a value; the event has no other sign. */
static void wait_in_flight(const struct rpc_server *server, struct rpc_channel *channel,
                           int expected) {
  struct rpc_completion completion;
  struct rpc_server_stats stats;
  for (int i = 0; i < 100000; i++) {
    rpc_server_stats(server, &stats);
    if (stats.in_flight == expected)
      return;
    assert_false(rpc_channel_next(channel, SECOND_NS / 5000, &completion));
  }
  fail_msg("%d calls in flight, expected %d", stats.in_flight, expected);
}

static void expect_echo(struct rpc_channel *channel, const char *path, const void *request,
                        size_t bytes) {
  struct rpc_completion reply = call_once(channel, path, request, bytes);
  assert_string_equal(reply.message, "");
  assert_int_equal(reply.status, RPC_OK);
  assert_int_equal(reply.reply_bytes, bytes);
  assert_memory_equal(reply.reply, request, bytes);
  rpc_completion_release(&reply);
}

static void a_message_goes_there_and_back(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  expect_echo(pair.channel, ECHO, "hello\0world", 11);
  expect_echo(pair.channel, ECHO_ON_QUEUE, "on the queue", 12);
  expect_echo(pair.channel, ECHO, "", 0);
  pair_stop(&pair);
}

static void failures_carry_their_status_and_message(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  struct rpc_completion reply = call_once(pair.channel, FAIL, "x", 1);
  assert_int_equal(reply.status, RPC_FAILED_PRECONDITION);
  assert_string_equal(reply.message, "no such luck");
  assert_null(reply.reply);
  reply = call_once(pair.channel, SILENT, "x", 1);
  assert_int_equal(reply.status, RPC_INTERNAL);
  assert_string_equal(reply.message, "the method gave no answer");
  pair_stop(&pair);
}

static void unknown_paths_are_unimplemented(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  for (int i = 0; i < 100; i++) {
    struct rpc_completion reply = call_once(pair.channel, "/test.Service/None", "x", 1);
    assert_int_equal(reply.status, RPC_UNIMPLEMENTED);
    assert_string_equal(reply.message, "there is no method /test.Service/None");
  }
  expect_echo(pair.channel, ECHO, "still here", 10);
  pair_stop(&pair);
}

static void a_message_over_the_limit_is_refused(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){.max_request_bytes = 1000});
  char *request = calloc(1, 1001);
  expect_echo(pair.channel, ECHO, request, 1000);
  struct rpc_completion reply = call_once(pair.channel, ECHO, request, 1001);
  assert_int_equal(reply.status, RPC_RESOURCE_EXHAUSTED);
  expect_echo(pair.channel, ECHO, request, 1000);
  free(request);
  pair_stop(&pair);
}

static void calls_over_the_limit_are_refused_while_workers_are_busy(void **state) {
  (void)state;
  struct pair pair =
      pair_start((struct rpc_server_options){.max_in_flight = 2, .worker_threads = 1});
  start_hold(pair.channel, 0);
  wait_for(&held, pair.channel);
  start_hold(pair.channel, 0);
  wait_in_flight(pair.server, pair.channel, 2);
  struct rpc_completion reply = call_once(pair.channel, ECHO, "x", 1);
  assert_int_equal(reply.status, RPC_RESOURCE_EXHAUSTED);
  assert_string_equal(reply.message, "2 calls are in progress, as many as allowed; try later");
  reply = call_once(pair.channel, "/test.Service/None", "x", 1);
  assert_int_equal(reply.status, RPC_UNIMPLEMENTED);
  sem_post(&let_go);
  sem_post(&let_go);
  for (int i = 0; i < 2; i++) {
    reply = next(pair.channel);
    assert_int_equal(reply.status, RPC_OK);
    rpc_completion_release(&reply);
  }
  struct rpc_server_stats stats;
  rpc_server_stats(pair.server, &stats);
  assert_int_equal(stats.calls, 3);
  assert_int_equal(stats.refused, 1);
  pair_stop(&pair);
}

static void a_place_is_free_when_its_answer_is_there(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){.max_in_flight = 1});
  for (int i = 0; i < 500; i++)
    expect_echo(pair.channel, i % 2 == 0 ? ECHO : ECHO_ON_QUEUE, "again", 5);
  pair_stop(&pair);
}

static void cancelling_reaches_the_running_handler(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  start_hold(pair.channel, 0);
  wait_for(&held, pair.channel);
  rpc_channel_cancel_all(pair.channel);
  assert_int_equal(next(pair.channel).status, RPC_CANCELLED);
  sem_wait(&saw_cancel);
  wait_in_flight(pair.server, pair.channel, 0);
  pair_stop(&pair);
}

static void a_deadline_reaches_the_running_handler(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  start_hold(pair.channel, SECOND_NS / 5);
  wait_for(&held, pair.channel);
  assert_int_equal(next(pair.channel).status, RPC_DEADLINE_EXCEEDED);
  sem_wait(&saw_cancel);
  wait_in_flight(pair.server, pair.channel, 0);
  pair_stop(&pair);
}

static void a_broken_connection_reaches_the_running_handler(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  start_hold(pair.channel, 0);
  wait_for(&held, pair.channel);
  rpc_channel_destroy(pair.channel);
  sem_wait(&saw_cancel);
  pair.channel = connect_to(pair.server);
  expect_echo(pair.channel, ECHO, "others go on", 12);
  pair_stop(&pair);
}

static void a_waiting_call_that_is_cancelled_frees_its_place(void **state) {
  (void)state;
  struct pair pair =
      pair_start((struct rpc_server_options){.max_in_flight = 2, .worker_threads = 1});
  struct rpc_channel *other = connect_to(pair.server);
  start_hold(pair.channel, 0);
  wait_for(&held, pair.channel);
  start_hold(other, 0);
  wait_in_flight(pair.server, other, 2);
  rpc_channel_cancel_all(other);
  assert_int_equal(next(other).status, RPC_CANCELLED);
  wait_in_flight(pair.server, pair.channel, 1);
  sem_post(&let_go);
  struct rpc_completion reply = next(pair.channel);
  assert_int_equal(reply.status, RPC_OK);
  rpc_completion_release(&reply);
  rpc_channel_destroy(other);
  pair_stop(&pair);
}

static void a_port_in_use_is_an_error(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  struct rpc_server_options options = {.size = sizeof(options),
                                       .port = rpc_server_port(pair.server)};
  struct rpc_server *second = NULL;
  struct rpc_error error = {0};
  assert_int_equal(rpc_server_start(&options, methods, 1, &second, &error), -1);
  assert_null(second);
  char expected[256];
  snprintf(expected, sizeof(expected),
           "cannot listen on 127.0.0.1:%d: Address already in use; stop what uses it or choose "
           "another port (0 picks one)",
           options.port);
  assert_string_equal(error.message, expected);
  pair_stop(&pair);
}

static void an_address_of_another_machine_is_an_error(void **state) {
  (void)state;
  struct rpc_server_options options = {.size = sizeof(options), .host = "192.0.2.1"};
  struct rpc_server *server = NULL;
  struct rpc_error error = {0};
  assert_int_equal(rpc_server_start(&options, methods, 1, &server, &error), -1);
  assert_string_equal(error.message, "cannot listen on 192.0.2.1:0: Cannot assign requested "
                                     "address; choose another address or port");
}

static void a_method_given_twice_is_an_error(void **state) {
  (void)state;
  const struct rpc_method twice[] = {methods[0], methods[0]};
  struct rpc_server_options options = {.size = sizeof(options)};
  struct rpc_server *server = NULL;
  struct rpc_error error = {0};
  assert_int_equal(rpc_server_start(&options, twice, 2, &server, &error), -1);
  assert_string_equal(error.message, "method " ECHO " is registered twice");
}

static void *drain(void *argument) {
  int *cancelled = malloc(sizeof(*cancelled));
  *cancelled = rpc_server_drain(argument, 30 * SECOND_NS);
  return cancelled;
}

static void draining_waits_for_calls_in_progress(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  start_hold(pair.channel, 0);
  wait_for(&held, pair.channel);
  pthread_t drainer;
  assert_int_equal(pthread_create(&drainer, NULL, drain, pair.server), 0);
  /* New calls fail from the moment on when the drain has begun. */
  for (;;) {
    struct rpc_channel *late = connect_to(pair.server);
    assert_int_equal(rpc_channel_call(late, ECHO, "late", 4, 2 * SECOND_NS, NULL), 0);
    struct rpc_completion reply = next(late);
    enum rpc_status status = reply.status;
    rpc_completion_release(&reply);
    rpc_channel_destroy(late);
    /* UNAVAILABLE, or what becomes of a connection that is taken at this very moment. */
    if (status != RPC_OK)
      break;
  }
  sem_post(&let_go);
  struct rpc_completion reply = next(pair.channel);
  assert_int_equal(reply.status, RPC_OK);
  rpc_completion_release(&reply);
  void *cancelled = NULL;
  pthread_join(drainer, &cancelled);
  assert_int_equal(*(int *)cancelled, 0);
  free(cancelled);
  pair_stop(&pair);
}

static void draining_cancels_what_outlives_the_grace(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){.worker_threads = 1});
  start_hold(pair.channel, 0);
  wait_for(&held, pair.channel);
  start_hold(pair.channel, 0);
  wait_in_flight(pair.server, pair.channel, 2);
  assert_int_equal(rpc_server_drain(pair.server, SECOND_NS / 100), 2);
  for (int i = 0; i < 2; i++)
    assert_int_not_equal(next(pair.channel).status, RPC_OK);
  pair_stop(&pair);
}

static void nothing_listening_is_unavailable(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){0});
  expect_echo(pair.channel, ECHO, "x", 1);
  rpc_server_destroy(pair.server);
  struct rpc_completion reply = call_once(pair.channel, ECHO, "x", 1);
  assert_int_equal(reply.status, RPC_UNAVAILABLE);
  assert_string_not_equal(reply.message, "");
  rpc_channel_destroy(pair.channel);
}

static void many_calls_at_once_on_several_queues_all_end(void **state) {
  (void)state;
  enum {
    CALLS = 1000
  };
  struct pair pair =
      pair_start((struct rpc_server_options){.queue_threads = 3, .worker_threads = 4});
  static int seen[CALLS];
  memset(seen, 0, sizeof(seen));
  for (int i = 0; i < CALLS; i++) {
    const char *path = i % 3 == 0 ? ECHO : i % 3 == 1 ? ECHO_ON_QUEUE : "/test.Service/None";
    assert_int_equal(rpc_channel_call(pair.channel, path, &i, sizeof(i), 0, &seen[i]), 0);
  }
  for (int i = 0; i < CALLS; i++) {
    struct rpc_completion reply = next(pair.channel);
    int index = (int)((int *)reply.tag - seen);
    assert_int_equal(reply.status, index % 3 == 2 ? RPC_UNIMPLEMENTED : RPC_OK);
    if (reply.status == RPC_OK)
      assert_int_equal(*(int *)reply.reply, index);
    seen[index]++;
    rpc_completion_release(&reply);
  }
  for (int i = 0; i < CALLS; i++)
    assert_int_equal(seen[i], 1);
  assert_int_equal(rpc_channel_in_flight(pair.channel), 0);
  pair_stop(&pair);
}

/* Calls of all kinds end while their clients give up at random moments. */
static void calls_given_up_at_any_moment_leave_nothing_behind(void **state) {
  (void)state;
  struct pair pair = pair_start((struct rpc_server_options){.worker_threads = 2});
  for (int round = 0; round < 12; round++) {
    for (int i = 0; i < 50; i++)
      assert_int_equal(rpc_channel_call(pair.channel, ECHO, "x", 1, (int64_t)(i + 1) * 20000, NULL),
                       0);
    if (round % 3 == 0)
      rpc_channel_cancel_all(pair.channel);
    while (rpc_channel_in_flight(pair.channel) > 0) {
      struct rpc_completion reply = next(pair.channel);
      assert_true(reply.status == RPC_OK || reply.status == RPC_DEADLINE_EXCEEDED ||
                  reply.status == RPC_CANCELLED);
      rpc_completion_release(&reply);
    }
  }
  wait_in_flight(pair.server, pair.channel, 0);
  expect_echo(pair.channel, ECHO, "x", 1);
  pair_stop(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_goes_there_and_back),
      cmocka_unit_test(failures_carry_their_status_and_message),
      cmocka_unit_test(unknown_paths_are_unimplemented),
      cmocka_unit_test(a_message_over_the_limit_is_refused),
      cmocka_unit_test(calls_over_the_limit_are_refused_while_workers_are_busy),
      cmocka_unit_test(a_place_is_free_when_its_answer_is_there),
      cmocka_unit_test(cancelling_reaches_the_running_handler),
      cmocka_unit_test(a_deadline_reaches_the_running_handler),
      cmocka_unit_test(a_broken_connection_reaches_the_running_handler),
      cmocka_unit_test(a_waiting_call_that_is_cancelled_frees_its_place),
      cmocka_unit_test(a_port_in_use_is_an_error),
      cmocka_unit_test(an_address_of_another_machine_is_an_error),
      cmocka_unit_test(a_method_given_twice_is_an_error),
      cmocka_unit_test(draining_waits_for_calls_in_progress),
      cmocka_unit_test(draining_cancels_what_outlives_the_grace),
      cmocka_unit_test(nothing_listening_is_unavailable),
      cmocka_unit_test(many_calls_at_once_on_several_queues_all_end),
      cmocka_unit_test(calls_given_up_at_any_moment_leave_nothing_behind),
  };
  rpc_runtime_start();
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  rpc_runtime_stop();
  return failures;
}
