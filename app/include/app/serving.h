#ifndef APP_SERVING_H
#define APP_SERVING_H

#include "app/error.h"
#include "app/flags.h"
#include "app/log.h"
#include "corpus/corpus.h"
#include "rpc/server.h"

/* The server's side of a program: corpus, service and gRPC server, from the flags. */
struct serving;

/*
 * Finds the text, prepares the version and serves, and logs all three. `flags` are those of
 * a program that serves; they and `log` are borrowed. Returns 0 and an owned object, or -1 and
 * fills *error. Reads the environment: call it before there are threads that change it.
 */
int serving_start(const struct flags *flags, struct log *log, struct serving **out,
                  struct app_error *error);

/* Drains without grace what was not drained, and frees. Takes NULL. */
void serving_stop(struct serving *serving);

/* Waits for the calls in progress as long as -drain_timeout allows; returns how many it cancelled.
 */
int serving_drain(struct serving *serving);

/* "host:port" at which this machine reaches the server. Borrowed. */
const char *serving_target(const struct serving *serving);

/* The text that is served. Borrowed. */
const struct corpus *serving_corpus(const struct serving *serving);

/* The gRPC server's counters. Any thread. */
void serving_stats(const struct serving *serving, struct rpc_server_stats *out);

#endif
