#include "failure.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
  SHOWN_PHRASE_BYTES = 60,
  SHOWN_REASON_BYTES = 200,
};

/* Text made fit for one line of a message. */
struct shown {
  char text[SHOWN_REASON_BYTES + sizeof("\\xNN...")];
};

static bool is_control(char byte) {
  return (unsigned char)byte < 0x20 || byte == 0x7f;
}

/* Whether the byte goes on with a UTF-8 sequence that began before it. */
static bool is_continuation(char byte) {
  return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Writes control bytes as \xNN, and ends with "..." what takes more than about `max_bytes`. */
static struct shown shown_text(const char *text, size_t max_bytes) {
  struct shown shown = {0};
  size_t used = 0;
  for (; *text != '\0' && used < max_bytes; text++) {
    if (is_control(*text))
      used += (size_t)snprintf(&shown.text[used], sizeof("\\xNN"), "\\x%02x", (unsigned)*text);
    else
      shown.text[used++] = *text;
  }
  if (is_continuation(*text)) {
    while (used > 0 && is_continuation(shown.text[--used])) {
    }
  }
  if (*text != '\0')
    snprintf(&shown.text[used], sizeof("..."), "...");
  return shown;
}

/* The core made no connection; a server that was reached may answer UNAVAILABLE, too. */
static bool is_unreachable(const struct failure *failure) {
  return failure->status == RPC_UNAVAILABLE &&
         (strstr(failure->reason, "failed to connect") != NULL ||
          strstr(failure->reason, "DNS resolution failed") != NULL);
}

static const char *advice(enum rpc_status status) {
  switch (status) {
  case RPC_DEADLINE_EXCEEDED:
    return "give -timeout more";
  case RPC_RESOURCE_EXHAUSTED:
    return "give -concurrency less, or the server a higher -max_in_flight";
  case RPC_INVALID_ARGUMENT:
    return "correct the phrase in the file given with -queries";
  case RPC_UNIMPLEMENTED:
    return "is another program than shakesapp-server listening there?";
  case RPC_UNAVAILABLE:
    return "look whether the server still runs and what it logged";
  default:
    return "look at what the server logged";
  }
}

void failure_describe(const struct failure *failure, struct rpc_error *error) {
  const char *given = failure->reason[0] != '\0' ? failure->reason : "no reason given";
  struct shown reason = shown_text(given, SHOWN_REASON_BYTES);
  if (is_unreachable(failure)) {
    rpc_error_set(error,
                  "cannot reach %s: %s; is the server running? Start it with shakesapp-server",
                  failure->target, reason.text);
    return;
  }
  struct shown phrase = shown_text(failure->phrase, SHOWN_PHRASE_BYTES);
  rpc_error_set(error, "request \"%s\" to %s failed: %s after %.3fs: %s; %s", phrase.text,
                failure->target, rpc_status_name(failure->status),
                (double)failure->elapsed_ns / 1e9, reason.text, advice(failure->status));
}

void failure_describe_wrong(const struct query *query, int64_t answered, struct rpc_error *error) {
  struct shown phrase = shown_text(query->phrase, SHOWN_PHRASE_BYTES);
  rpc_error_set(error,
                "\"%s\" was answered %" PRId64 ", expected %" PRId64
                ": the server's text or code is wrong (for another text give -queries)",
                phrase.text, answered, query->count);
}
