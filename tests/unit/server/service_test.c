#include "server/service.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/shakesapp.pb-c.h"
#include "rpc/channel.h"
#include "rpc/runtime.h"
#include "rpc/server.h"
#include "text.h"

/* The service behind a real server, asked over a real channel. */

static const char method_path[] = "/shakesapp.ShakespeareService/GetMatchCount";

enum {
  MAX_QUERY_BYTES = 1024,
  MAX_REQUEST_BYTES = 2 * MAX_QUERY_BYTES,
};

static const int64_t second_ns = 1000 * 1000 * 1000;

struct fixture {
  struct text text;
  struct service *service;
  struct rpc_server *server;
  struct rpc_channel *channel;
};

static void serve(struct fixture *fixture, const struct match_version *version) {
  struct match_error match_error;
  if (service_create(version, fixture->text.corpus, true, &fixture->service, &match_error) != 0)
    fail_msg("%s", match_error.message);
  size_t method_count;
  const struct rpc_method *methods = service_methods(fixture->service, &method_count);
  const struct rpc_server_options options = {.size = sizeof options};
  struct rpc_error error;
  if (rpc_server_start(&options, methods, method_count, &fixture->server, &error) != 0)
    fail_msg("%s", error.message);
  char target[32];
  snprintf(target, sizeof target, "127.0.0.1:%d", rpc_server_port(fixture->server));
  if (rpc_channel_create(target, NULL, &fixture->channel, &error) != 0)
    fail_msg("%s", error.message);
}

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  text_of(&fixture->text, "Hello, hello\nhellO\nÉtude\nabsence\n");
  *state = fixture;
  return 0;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  rpc_channel_destroy(fixture->channel);
  rpc_server_destroy(fixture->server);
  service_destroy(fixture->service);
  text_destroy(&fixture->text);
  free(fixture);
  return 0;
}

static int runtime_start(void **state) {
  (void)state;
  rpc_runtime_start();
  return 0;
}

static int runtime_stop(void **state) {
  (void)state;
  rpc_runtime_stop();
  return 0;
}

static size_t request_of(const char *query, size_t length, uint8_t out[MAX_REQUEST_BYTES]) {
  char bytes[MAX_REQUEST_BYTES];
  memcpy(bytes, query, length);
  Shakesapp__ShakespeareRequest request = SHAKESAPP__SHAKESPEARE_REQUEST__INIT;
  request.query = (ProtobufCBinaryData){.len = length, .data = (uint8_t *)bytes};
  assert_in_range(shakesapp__shakespeare_request__get_packed_size(&request), 0, MAX_REQUEST_BYTES);
  return shakesapp__shakespeare_request__pack(&request, out);
}

static void call(struct fixture *fixture, const void *request, size_t request_bytes,
                 int64_t timeout_ns, struct rpc_completion *out) {
  assert_int_equal(
      rpc_channel_call(fixture->channel, method_path, request, request_bytes, timeout_ns, NULL), 0);
  assert_true(rpc_channel_next(fixture->channel, 60 * second_ns, out));
}

static void assert_request_fails(struct fixture *fixture, const void *request, size_t request_bytes,
                                 enum rpc_status status, const char *message) {
  struct rpc_completion completion;
  call(fixture, request, request_bytes, 0, &completion);
  assert_string_equal(completion.message, message);
  assert_string_equal(rpc_status_name(completion.status), rpc_status_name(status));
  rpc_completion_release(&completion);
}

static void assert_query_fails(struct fixture *fixture, const char *query, size_t length,
                               enum rpc_status status, const char *message) {
  uint8_t request[MAX_REQUEST_BYTES];
  assert_request_fails(fixture, request, request_of(query, length, request), status, message);
}

static void assert_answer(struct fixture *fixture, const char *query, int64_t expected) {
  uint8_t request[MAX_REQUEST_BYTES];
  struct rpc_completion completion;
  call(fixture, request, request_of(query, strlen(query), request), 0, &completion);
  assert_string_equal(completion.message, "");
  assert_int_equal(completion.status, RPC_OK);
  Shakesapp__ShakespeareResponse *response =
      shakesapp__shakespeare_response__unpack(NULL, completion.reply_bytes, completion.reply);
  assert_non_null(response);
  assert_int_equal(response->match_count, expected);
  shakesapp__shakespeare_response__free_unpacked(response, NULL);
  rpc_completion_release(&completion);
}

static void every_version_answers(void **state) {
  struct fixture *fixture = *state;
  for (size_t i = 0; i < match_version_count(); i++) {
    serve(fixture, match_version_at(i));
    assert_answer(fixture, "hello", 2);
    assert_answer(fixture, "éTUDE", 1);
    assert_answer(fixture, "nothing", 0);
    assert_answer(fixture, "hello\nhello", 0);
    rpc_channel_destroy(fixture->channel);
    rpc_server_destroy(fixture->server);
    service_destroy(fixture->service);
    fixture->channel = NULL;
    fixture->server = NULL;
    fixture->service = NULL;
  }
}

static void invalid_queries_are_told_apart(void **state) {
  struct fixture *fixture = *state;
  serve(fixture, match_version_find(4));
  char longest[MAX_QUERY_BYTES + 2];
  memset(longest, 'a', sizeof longest);
  longest[MAX_QUERY_BYTES + 1] = '\0';
  assert_query_fails(fixture, "", 0, RPC_INVALID_ARGUMENT,
                     "the query is empty; send a phrase of 1 to 1024 bytes");
  assert_query_fails(fixture, longest, MAX_QUERY_BYTES + 1, RPC_INVALID_ARGUMENT,
                     "the query is over 1024 bytes; send a shorter phrase");
  assert_query_fails(fixture, "hel\0lo", 6, RPC_INVALID_ARGUMENT,
                     "the query holds a NUL byte; send a phrase without");
  assert_query_fails(fixture, "hello\0", 6, RPC_INVALID_ARGUMENT,
                     "the query holds a NUL byte; send a phrase without");
  assert_query_fails(fixture, "caf\xe9", 4, RPC_INVALID_ARGUMENT,
                     "the query is not UTF-8; encode the phrase as UTF-8");
  assert_query_fails(fixture, "\xed\xa0\x80", 3, RPC_INVALID_ARGUMENT,
                     "the query is not UTF-8; encode the phrase as UTF-8");
  longest[MAX_QUERY_BYTES] = '\0';
  assert_answer(fixture, longest, 0);
}

static void requests_are_parsed_as_protobuf_says(void **state) {
  struct fixture *fixture = *state;
  serve(fixture, match_version_find(4));
  static const char malformed[] = "the request is no shakesapp.ShakespeareRequest";
  assert_request_fails(fixture, "\x0a\x05hell", 6, RPC_INTERNAL, malformed); /* cut short */
  assert_request_fails(fixture, "\x0a\xff\xff\xff\xff\x0f", 6, RPC_INTERNAL, malformed);
  assert_request_fails(fixture, "\xff", 1, RPC_INTERNAL, malformed);
  assert_request_fails(fixture, "", 0, RPC_INVALID_ARGUMENT, /* every field at its default */
                       "the query is empty; send a phrase of 1 to 1024 bytes");
  struct rpc_completion completion; /* an unknown field, and the query twice: the last counts */
  call(fixture, "\x10\x01\x0a\x01z\x0a\x05hello", 12, 0, &completion);
  assert_string_equal(completion.message, "");
  assert_int_equal(completion.reply_bytes, 2);
  assert_memory_equal(completion.reply, "\x08\x02", 2);
  rpc_completion_release(&completion);
}

static void an_unreadable_work_is_unavailable_until_it_is_back(void **state) {
  struct fixture *fixture = *state;
  serve(fixture, match_version_find(2));
  assert_answer(fixture, "hello", 2);
  text_remove(&fixture->text, "work.txt");
  assert_query_fails(fixture, "hello", 5, RPC_UNAVAILABLE,
                     "cannot read the work work.txt: No such file or directory; "
                     "put the file back as it was loaded");
  text_write(&fixture->text, "work.txt", "hello\n", 6);
  assert_answer(fixture, "hello", 1);
}

static void an_unreadable_work_fails_the_start(void **state) {
  struct fixture *fixture = *state;
  text_remove(&fixture->text, "work.txt");
  struct match_error error;
  struct service *service = NULL;
  assert_int_equal(
      service_create(match_version_find(4), fixture->text.corpus, true, &service, &error), -1);
  assert_null(service);
  assert_string_equal(error.message, "cannot read the work work.txt: No such file or directory; "
                                     "put the file back as it was loaded");
}

/* A version of our own, which takes its outcome from the query and waits on "wait" until stopped.
 */

static sem_t stopped;

static enum match_outcome scripted_prepare(const struct corpus *corpus, void **out_state,
                                           struct match_error *error) {
  (void)corpus;
  (void)error;
  *out_state = NULL;
  return MATCH_OK;
}

static enum match_outcome scripted_count(const void *state, const struct match_query *query,
                                         int64_t *out_count, struct match_error *error) {
  (void)state;
  if (strcmp(query->phrase, "wait") == 0) {
    while (!atomic_load(query->stop))
      continue;
    sem_post(&stopped);
    return MATCH_STOPPED;
  }
  if (strcmp(query->phrase, "memory") == 0) {
    match_error_set(error, "out of memory");
    return MATCH_OUT_OF_MEMORY;
  }
  *out_count = INT64_MAX;
  return MATCH_OK;
}

static void scripted_release(void *state) {
  assert_null(state);
}

static const struct match_version scripted_version = {
    .number = 99,
    .name = "scripted",
    .lesson = "none",
    .prepare = scripted_prepare,
    .count = scripted_count,
    .release = scripted_release,
};

static const struct match_version scripted_version_on_queue_thread = {
    .number = 100,
    .name = "scripted, on the queue thread",
    .lesson = "none",
    .prepare = scripted_prepare,
    .count = scripted_count,
    .release = scripted_release,
    .on_queue_thread = true,
};

static void outcomes_become_statuses(void **state) {
  struct fixture *fixture = *state;
  serve(fixture, &scripted_version);
  assert_query_fails(fixture, "memory", 6, RPC_RESOURCE_EXHAUSTED, "out of memory");
  assert_answer(fixture, "the largest count", INT64_MAX);
}

static void a_deadline_stops_the_count(void **state) {
  struct fixture *fixture = *state;
  serve(fixture, &scripted_version);
  assert_int_equal(sem_init(&stopped, 0, 0), 0);
  uint8_t request[MAX_REQUEST_BYTES];
  struct rpc_completion completion;
  call(fixture, request, request_of("wait", 4, request), second_ns / 10, &completion);
  assert_string_equal(rpc_status_name(completion.status), "DEADLINE_EXCEEDED");
  rpc_completion_release(&completion);
  assert_int_equal(sem_wait(&stopped), 0);
  sem_destroy(&stopped);
}

static void the_row_says_where_it_runs(void **state) {
  struct fixture *fixture = *state;
  serve(fixture, &scripted_version_on_queue_thread);
  size_t count;
  const struct rpc_method *methods = service_methods(fixture->service, &count);
  assert_int_equal(count, 1);
  assert_string_equal(methods[0].path, method_path);
  assert_true(methods[0].on_queue_thread);
  assert_answer(fixture, "on the queue thread", INT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_version_answers, setup, teardown),
      cmocka_unit_test_setup_teardown(invalid_queries_are_told_apart, setup, teardown),
      cmocka_unit_test_setup_teardown(requests_are_parsed_as_protobuf_says, setup, teardown),
      cmocka_unit_test_setup_teardown(an_unreadable_work_is_unavailable_until_it_is_back, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(an_unreadable_work_fails_the_start, setup, teardown),
      cmocka_unit_test_setup_teardown(outcomes_become_statuses, setup, teardown),
      cmocka_unit_test_setup_teardown(a_deadline_stops_the_count, setup, teardown),
      cmocka_unit_test_setup_teardown(the_row_says_where_it_runs, setup, teardown),
  };
  return cmocka_run_group_tests(tests, runtime_start, runtime_stop);
}
