#ifndef RPC_CALL_H
#define RPC_CALL_H

#include <stdatomic.h>

#include <grpc/grpc.h>

#include "rpc/server.h"
#include "workers.h"

/* Admission: what all calls of one server share. */
struct call_gate {
  struct workers *workers;
  int max_in_flight;
  atomic_bool closed; /* draining: no new slot is armed */
  atomic_int alive;   /* calls that arrived and are not freed: in flight, or their end on its way */
  atomic_int in_flight;
  atomic_uint_fast64_t calls;
  atomic_uint_fast64_t refused;
  atomic_uint_fast64_t cancelled;
};

/* Where calls come from: one method on one completion queue, which one thread serves. */
struct call_source {
  grpc_server *core;
  grpc_completion_queue *queue;
  struct call_gate *gate;
  struct rpc_method method; /* all zero: every path that is not registered */
  void *registered;         /* the core's handle of the method, else NULL */
  int unarmed;              /* slots that could not be armed; the queue's thread alone */
};

/* What a tag that comes out of a queue says of its call. */
enum call_event {
  CALL_ARRIVED,
  CALL_CLOSED,
  CALL_ANSWERED,
};

struct call_tag {
  struct rpc_call *call;
  enum call_event event;
};

/*
 * Arms one slot: the next call of the source will arrive with a tag of this
 * slot. Returns 0, or -1 when memory ran out. The source outlives the slot.
 */
int call_arm(struct call_source *source);

/* Moves a call on by the event that its tag stands for. Queue threads only. */
void call_advance(struct call_tag *tag, bool success);

/* Runs the handler of a submitted call. Workers only. */
void call_run(struct job *job);

#endif
