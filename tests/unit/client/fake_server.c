#include "fake_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "proto/shakesapp.pb-c.h"

/* Which known query the request asks; their number when it asks none of them. */
static size_t query_of(const void *request, size_t request_bytes) {
  Shakesapp__ShakespeareRequest *unpacked =
      shakesapp__shakespeare_request__unpack(NULL, request_bytes, request);
  if (unpacked == NULL)
    return queries_known.count;
  size_t query = 0;
  for (; query < queries_known.count; query++) {
    const char *phrase = queries_known.items[query].phrase;
    if (unpacked->query.len == strlen(phrase) &&
        memcmp(unpacked->query.data, phrase, unpacked->query.len) == 0)
      break;
  }
  shakesapp__shakespeare_request__free_unpacked(unpacked, NULL);
  return query;
}

static void handle(struct rpc_call *call, const void *request, size_t request_bytes,
                   void *context) {
  struct fake_server *fake = context;
  size_t query = query_of(request, request_bytes);
  if (query == queries_known.count) {
    rpc_call_fail(call, RPC_INVALID_ARGUMENT, "not one of the known queries");
    return;
  }
  pthread_mutex_lock(&fake->lock);
  uint64_t index = fake->calls++;
  if (index < sizeof(fake->asked) / sizeof(fake->asked[0]))
    fake->asked[index] = query;
  pthread_mutex_unlock(&fake->lock);

  fake->answer(fake, call, query, index);
}

void fake_server_start(struct fake_server *fake, fake_answer *answer, void *context) {
  pthread_mutex_init(&fake->lock, NULL);
  fake->answer = answer;
  fake->context = context;
  fake->method = (struct rpc_method){
      .path = "/shakesapp.ShakespeareService/GetMatchCount", .handler = handle, .context = fake};
  struct rpc_server_options options = {.size = sizeof(options), .worker_threads = 8};
  struct rpc_error error;
  if (rpc_server_start(&options, &fake->method, 1, &fake->server, &error) != 0)
    fail_msg("%s", error.message);
  snprintf(fake->target, sizeof(fake->target), "127.0.0.1:%d", rpc_server_port(fake->server));
}

void fake_server_stop(struct fake_server *fake) {
  if (fake->server == NULL)
    return;
  rpc_server_destroy(fake->server);
  fake->server = NULL;
  pthread_mutex_destroy(&fake->lock);
}

static void answer_count(struct rpc_call *call, int64_t count) {
  Shakesapp__ShakespeareResponse response = SHAKESAPP__SHAKESPEARE_RESPONSE__INIT;
  response.match_count = count;
  uint8_t packed[16];
  size_t packed_bytes = shakesapp__shakespeare_response__pack(&response, packed);
  rpc_call_reply(call, packed, packed_bytes);
}

void fake_answer_right(struct fake_server *fake, struct rpc_call *call, size_t query,
                       uint64_t index) {
  (void)fake;
  (void)index;
  answer_count(call, queries_known.items[query].count);
}

void fake_answer_one_more(struct fake_server *fake, struct rpc_call *call, size_t query,
                          uint64_t index) {
  (void)fake;
  (void)index;
  answer_count(call, queries_known.items[query].count + 1);
}

void fake_answer_garbage(struct fake_server *fake, struct rpc_call *call, size_t query,
                         uint64_t index) {
  (void)fake;
  (void)query;
  (void)index;
  rpc_call_reply(call, "\xff\xff\xff", 3);
}

void fake_answer_never(struct fake_server *fake, struct rpc_call *call, size_t query,
                       uint64_t index) {
  (void)fake;
  (void)query;
  (void)index;
  const struct timespec tick = {.tv_nsec = 200000};
  while (!atomic_load(rpc_call_cancelled(call)))
    nanosleep(&tick, NULL);
  rpc_call_fail(call, RPC_CANCELLED, "cancelled");
}
