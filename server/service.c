#include "server/service.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/fold.h"
#include "labels.h"
#include "proto/shakesapp.pb-c.h"

enum {
  MAX_QUERY_BYTES = 1024,
  MAX_REPLY_BYTES = 11, /* a field's tag and a varint of 64 bits */
};

struct service {
  const struct match_version *version;
  void *state; /* the version's */
  struct labels labels;
  struct rpc_method get_match_count;
};

/* The one place where gRPC statuses are chosen for what the matching came to. */
static enum rpc_status status_of_outcome(enum match_outcome outcome) {
  switch (outcome) {
  case MATCH_OK:
    return RPC_OK;
  case MATCH_STOPPED:
    return RPC_CANCELLED;
  case MATCH_UNREADABLE:
    return RPC_UNAVAILABLE;
  case MATCH_OUT_OF_MEMORY:
    return RPC_RESOURCE_EXHAUSTED;
  }
  return RPC_INTERNAL;
}

/* What is wrong with the query, or NULL. */
static const char *query_fault(const ProtobufCBinaryData *query) {
  if (query->len == 0)
    return "the query is empty; send a phrase of 1 to 1024 bytes";
  if (query->len > MAX_QUERY_BYTES)
    return "the query is over 1024 bytes; send a shorter phrase";
  if (memchr(query->data, '\0', query->len) != NULL)
    return "the query holds a NUL byte; send a phrase without";
  if (!corpus_is_utf8((const char *)query->data, query->len))
    return "the query is not UTF-8; encode the phrase as UTF-8";
  return NULL;
}

static void reply_count(struct rpc_call *call, int64_t count) {
  Shakesapp__ShakespeareResponse response = SHAKESAPP__SHAKESPEARE_RESPONSE__INIT;
  response.match_count = count;
  uint8_t reply[MAX_REPLY_BYTES];
  assert(shakesapp__shakespeare_response__get_packed_size(&response) <= sizeof reply);
  size_t reply_bytes = shakesapp__shakespeare_response__pack(&response, reply);
  rpc_call_reply(call, reply, reply_bytes);
}

static void answer_query(struct rpc_call *call, const ProtobufCBinaryData *query,
                         struct service *service) {
  char phrase[MAX_QUERY_BYTES + 1];
  memcpy(phrase, query->data, query->len);
  phrase[query->len] = '\0';
  const struct match_query question = {
      .phrase = phrase, .length = query->len, .stop = rpc_call_cancelled(call)};
  int64_t count = 0;
  struct match_error error = {.message = "the call was cancelled"};
  labels_set(&service->labels, "GetMatchCount", phrase);
  enum match_outcome outcome = service->version->count(service->state, &question, &count, &error);
  labels_clear();
  if (outcome == MATCH_OK)
    reply_count(call, count);
  else
    rpc_call_fail(call, status_of_outcome(outcome), error.message);
}

static void get_match_count(struct rpc_call *call, const void *request, size_t request_bytes,
                            void *context) {
  Shakesapp__ShakespeareRequest *message =
      shakesapp__shakespeare_request__unpack(NULL, request_bytes, request);
  if (message == NULL) {
    rpc_call_fail(call, RPC_INTERNAL, "the request is no shakesapp.ShakespeareRequest");
    return;
  }
  const char *fault = query_fault(&message->query);
  if (fault != NULL)
    rpc_call_fail(call, RPC_INVALID_ARGUMENT, fault);
  else
    answer_query(call, &message->query, context);
  shakesapp__shakespeare_request__free_unpacked(message, NULL);
}

int service_create(const struct match_version *version, const struct corpus *corpus,
                   bool label_query, struct service **out, struct match_error *error) {
  struct service *service = malloc(sizeof *service);
  if (service == NULL) {
    match_error_set(error, "out of memory while the service was made; give the server more memory");
    return -1;
  }
  *service = (struct service){
      .version = version,
      .get_match_count =
          {
              .path = "/shakesapp.ShakespeareService/GetMatchCount",
              .handler = get_match_count,
              .context = service,
              .on_queue_thread = version->on_queue_thread,
          },
  };
  if (version->prepare(corpus, &service->state, error) != MATCH_OK) {
    free(service);
    return -1;
  }
  labels_init(&service->labels, version->number, label_query);
  *out = service;
  return 0;
}

void service_destroy(struct service *service) {
  if (service == NULL)
    return;
  service->version->release(service->state);
  labels_fini(&service->labels);
  free(service);
}

const struct rpc_method *service_methods(const struct service *service, size_t *out_count) {
  *out_count = 1;
  return &service->get_match_count;
}
