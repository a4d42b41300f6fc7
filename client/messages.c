#include "messages.h"

#include <stdlib.h>
#include <string.h>

#include "proto/shakesapp.pb-c.h"

/* A request that borrows the phrase; protobuf-c only reads through the pointer. */
static Shakesapp__ShakespeareRequest request_of(const struct query *query) {
  Shakesapp__ShakespeareRequest request = SHAKESAPP__SHAKESPEARE_REQUEST__INIT;
  request.query.data = (uint8_t *)(uintptr_t)query->phrase;
  request.query.len = strlen(query->phrase);
  return request;
}

struct question *questions_pack(const struct queries *queries) {
  size_t head_bytes = queries->count * sizeof(struct question);
  size_t request_bytes = 0;
  for (size_t i = 0; i < queries->count; i++) {
    Shakesapp__ShakespeareRequest request = request_of(&queries->items[i]);
    request_bytes += shakesapp__shakespeare_request__get_packed_size(&request);
  }
  struct question *questions = malloc(head_bytes + request_bytes);
  if (questions == NULL)
    return NULL;
  uint8_t *next = (uint8_t *)(questions + queries->count);
  for (size_t i = 0; i < queries->count; i++) {
    Shakesapp__ShakespeareRequest request = request_of(&queries->items[i]);
    size_t packed = shakesapp__shakespeare_request__pack(&request, next);
    questions[i] = (struct question){&queries->items[i], next, packed};
    next += packed;
  }
  return questions;
}

bool answer_unpack(const void *reply, size_t reply_bytes, int64_t *out_count) {
  Shakesapp__ShakespeareResponse *response =
      shakesapp__shakespeare_response__unpack(NULL, reply_bytes, reply);
  if (response == NULL)
    return false;
  *out_count = response->match_count;
  shakesapp__shakespeare_response__free_unpacked(response, NULL);
  return true;
}
