#ifndef CLIENT_MESSAGES_H
#define CLIENT_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/queries.h"

/* A query and the packed ShakespeareRequest that asks it. */
struct question {
  const struct query *query;
  const uint8_t *request;
  size_t request_bytes;
};

/*
 * Packs every query once. Returns `queries->count` owned questions, one block to
 * free(), or NULL when memory ran out; the queries are borrowed.
 */
struct question *questions_pack(const struct queries *queries);

/* Reads the count out of a ShakespeareResponse; false when the bytes are none. */
bool answer_unpack(const void *reply, size_t reply_bytes, int64_t *out_count);

#endif
