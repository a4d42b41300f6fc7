#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "client/queries.h"
#include "rpc/server.h"

/* A real rpc server on loopback whose GetMatchCount answers as a test wants. */
struct fake_server;

/* Answers the call that asks for queries_known.items[query]; `index` counts the calls from 0. */
typedef void fake_answer(struct fake_server *fake, struct rpc_call *call, size_t query,
                         uint64_t index);

struct fake_server {
  struct rpc_server *server;
  struct rpc_method method;
  fake_answer *answer;
  void *context;   /* the test's own, set before the start */
  char target[32]; /* host:port */

  pthread_mutex_t lock; /* of what follows */
  size_t asked[1024];   /* which queries were asked, in the order of their arrival */
  uint64_t calls;
};

/* Starts with eight workers on a free port. Fails the test when it cannot. */
void fake_server_start(struct fake_server *fake, fake_answer *answer, void *context);

/* When all handlers have returned, so that what they counted may be read. May be called twice. */
void fake_server_stop(struct fake_server *fake);

fake_answer fake_answer_right;
fake_answer fake_answer_one_more; /* the right count plus 1 */
fake_answer fake_answer_garbage;  /* bytes that are no message */
fake_answer fake_answer_never;    /* only when the call is cancelled */

#endif
