/*
 * Design notes: the life of one call
 *
 *   armed ---arrived---> refused or unknown: answered at once (queue thread)
 *                   \--> on_queue_thread: handler runs, answered (queue thread)
 *                   \--> waiting -> running on a worker -> answered (worker)
 *
 * A slot is armed with CALL_ARRIVED; when a call takes it, the next slot is armed
 * before anything else, so that the core never queues calls that we could
 * refuse.
 *
 * Two batches make a call: `close` (RECV_CLOSE_ON_SERVER), started on arrival so
 * that a cancellation or a passed deadline reaches a running handler, and
 * `answer`. A call that is answered on the queue thread has no use for the first
 * and sends both as one.
 *
 * `holders` counts who may still touch the call: the handler, and each batch
 * whose tag has not come back. The last one frees it. The decrement is acq_rel:
 * each holder's writes happen before the free.
 *
 * `cancelled` is written by the queue thread, relaxed, and polled by the handler:
 * nothing else is published through it.
 *
 * A call is in flight from its admission until its answer starts on its way, so
 * that a client that sends its next call when it has the answer finds the place
 * free.
 */
#include "call.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <grpc/support/alloc.h>

#include "tag.h"
#include "wire.h"

struct rpc_call {
  struct job job; /* first member: the workers' handle */
  struct call_source *source;
  grpc_call *core;
  grpc_call_details details; /* of unregistered paths only */
  grpc_metadata_array metadata;
  gpr_timespec deadline;
  grpc_byte_buffer *request;
  atomic_int holders;
  atomic_bool cancelled;
  bool admitted;      /* counted in the gate */
  bool close_started; /* the close batch is a holder or was one */
  bool answered;
  int close_cancelled; /* written by the core until CALL_CLOSED */
  grpc_byte_buffer *reply;
  grpc_slice message;
  struct call_tag arrived;
  struct call_tag closed;
  struct call_tag answer;
};

static struct rpc_call *call_create(struct call_source *source) {
  struct rpc_call *call = calloc(1, sizeof(*call));
  if (call == NULL)
    return NULL;
  call->source = source;
  call->message = grpc_empty_slice();
  grpc_metadata_array_init(&call->metadata);
  grpc_call_details_init(&call->details);
  call->arrived = (struct call_tag){call, CALL_ARRIVED};
  call->closed = (struct call_tag){call, CALL_CLOSED};
  call->answer = (struct call_tag){call, CALL_ANSWERED};
  return call;
}

static void call_destroy(struct rpc_call *call) {
  if (call->core != NULL)
    grpc_call_unref(call->core);
  if (call->request != NULL)
    grpc_byte_buffer_destroy(call->request);
  if (call->reply != NULL)
    grpc_byte_buffer_destroy(call->reply);
  grpc_slice_unref(call->message);
  grpc_metadata_array_destroy(&call->metadata);
  grpc_call_details_destroy(&call->details);
  free(call);
}

static void hold(struct rpc_call *call) {
  atomic_fetch_add_explicit(&call->holders, 1, memory_order_relaxed);
}

static void release(struct rpc_call *call) {
  if (atomic_fetch_sub_explicit(&call->holders, 1, memory_order_acq_rel) != 1)
    return;
  atomic_int *alive = &call->source->gate->alive;
  call_destroy(call);
  atomic_fetch_sub_explicit(alive, 1, memory_order_relaxed);
}

static void count(atomic_uint_fast64_t *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

int call_arm(struct call_source *source) {
  struct rpc_call *call = call_create(source);
  if (call == NULL)
    return -1;
  tag_give(&call->arrived);
  grpc_call_error failure =
      source->registered != NULL
          ? grpc_server_request_registered_call(source->core, source->registered, &call->core,
                                                &call->deadline, &call->metadata, &call->request,
                                                source->queue, source->queue, &call->arrived)
          : grpc_server_request_call(source->core, &call->core, &call->details, &call->metadata,
                                     source->queue, source->queue, &call->arrived);
  if (failure == GRPC_CALL_OK)
    return 0;
  call_destroy(call);
  return -1;
}

/* Arms what is missing; without memory for it the end of a later call tries again. */
static void rearm(struct call_source *source) {
  while (source->unarmed > 0 &&
         !atomic_load_explicit(&source->gate->closed, memory_order_relaxed) &&
         call_arm(source) == 0)
    source->unarmed--;
}

/* Admits a call unless as many as allowed are in flight. */
static bool enter(struct rpc_call *call) {
  struct call_gate *gate = call->source->gate;
  int before = atomic_fetch_add_explicit(&gate->in_flight, 1, memory_order_relaxed);
  if (before >= gate->max_in_flight) {
    atomic_fetch_sub_explicit(&gate->in_flight, 1, memory_order_relaxed);
    count(&gate->refused);
    return false;
  }
  call->admitted = true;
  return true;
}

static void leave(struct rpc_call *call) {
  if (!call->admitted)
    return;
  call->admitted = false;
  atomic_fetch_sub_explicit(&call->source->gate->in_flight, 1, memory_order_relaxed);
}

/* Starts a batch that holds the call until its tag comes back. */
static void start_batch(struct rpc_call *call, const grpc_op *ops, size_t op_count,
                        struct call_tag *tag) {
  hold(call);
  tag_give(tag);
  if (grpc_call_start_batch(call->core, ops, op_count, tag, NULL) != GRPC_CALL_OK)
    release(call);
}

static grpc_op close_op(struct rpc_call *call) {
  call->close_started = true;
  grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
  op.data.recv_close_on_server.cancelled = &call->close_cancelled;
  return op;
}

static void watch_close(struct rpc_call *call) {
  grpc_op op = close_op(call);
  start_batch(call, &op, 1, &call->closed);
}

/* Sends the status and, where there is one, the reply. */
static void send_answer(struct rpc_call *call, enum rpc_status status) {
  assert(!call->answered);
  call->answered = true;
  leave(call);
  if (atomic_load_explicit(&call->cancelled, memory_order_relaxed))
    return;

  grpc_op ops[4] = {0};
  size_t op_count = 0;
  ops[op_count++].op = GRPC_OP_SEND_INITIAL_METADATA;
  if (call->reply != NULL) {
    ops[op_count].op = GRPC_OP_SEND_MESSAGE;
    ops[op_count++].data.send_message.send_message = call->reply;
  }
  ops[op_count].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  ops[op_count].data.send_status_from_server.status = (grpc_status_code)status;
  ops[op_count++].data.send_status_from_server.status_details =
      status == RPC_OK ? NULL : &call->message;
  if (!call->close_started)
    ops[op_count++] = close_op(call);
  start_batch(call, ops, op_count, &call->answer);
}

void rpc_call_reply(struct rpc_call *call, const void *reply, size_t reply_bytes) {
  call->reply = wire_pack(reply, reply_bytes);
  send_answer(call, RPC_OK);
}

void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *message) {
  assert(status != RPC_OK);
  call->message = grpc_slice_from_copied_string(message);
  send_answer(call, status);
}

const atomic_bool *rpc_call_cancelled(const struct rpc_call *call) {
  return &call->cancelled;
}

/* Hands the request to the handler and makes sure that there is an answer. */
static void handle(struct rpc_call *call) {
  const struct rpc_method *method = &call->source->method;
  grpc_slice request;
  if (wire_unpack(call->request, &request) != 0) {
    rpc_call_fail(call, RPC_INTERNAL, "the message cannot be unpacked");
  } else {
    method->handler(call, GRPC_SLICE_START_PTR(request), GRPC_SLICE_LENGTH(request),
                    method->context);
    grpc_slice_unref(request);
  }
  if (!call->answered)
    rpc_call_fail(call, RPC_INTERNAL, "the method gave no answer");
}

void call_run(struct job *job) {
  struct rpc_call *call = (struct rpc_call *)job;
  if (atomic_load_explicit(&call->cancelled, memory_order_relaxed))
    leave(call);
  else
    handle(call);
  release(call);
}

static void answer_unknown_path(struct rpc_call *call) {
  char *path = grpc_slice_to_c_string(call->details.method);
  char message[256];
  snprintf(message, sizeof(message), "there is no method %s", path);
  gpr_free(path);
  rpc_call_fail(call, RPC_UNIMPLEMENTED, message);
}

/* Headers and no more: such a call takes no place, or a peer could fill them for nothing. */
static void answer_no_message(struct rpc_call *call) {
  rpc_call_fail(call, RPC_UNIMPLEMENTED, "the method takes one message and none came");
}

static void refuse(struct rpc_call *call) {
  char message[128];
  snprintf(message, sizeof(message), "%d calls are in progress, as many as allowed; try later",
           call->source->gate->max_in_flight);
  rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, message);
}

static void on_arrived(struct rpc_call *call, bool success) {
  struct call_source *source = call->source;
  if (!success) {
    call_destroy(call);
    return;
  }
  source->unarmed++;
  rearm(source);

  atomic_fetch_add_explicit(&source->gate->alive, 1, memory_order_relaxed);
  hold(call);
  if (source->registered != NULL)
    count(&source->gate->calls);
  if (source->registered == NULL) {
    answer_unknown_path(call);
  } else if (call->request == NULL) {
    answer_no_message(call);
  } else if (!enter(call)) {
    refuse(call);
  } else if (source->method.on_queue_thread) {
    handle(call);
  } else {
    watch_close(call);
    workers_submit(source->gate->workers, &call->job);
    return;
  }
  release(call);
}

static void on_closed(struct rpc_call *call) {
  if (call->close_cancelled) {
    count(&call->source->gate->cancelled);
    atomic_store_explicit(&call->cancelled, true, memory_order_relaxed);
    if (workers_withdraw(call->source->gate->workers, &call->job)) {
      leave(call);
      release(call);
    }
  }
  /* The analyzer does not count holders: the handler's was one, the close batch's is another. */
  release(call); // NOLINT(clang-analyzer-unix.Malloc)
}

void call_advance(struct call_tag *tag, bool success) {
  struct rpc_call *call = tag->call;
  struct call_source *source = call->source;
  switch (tag->event) {
  case CALL_ARRIVED:
    on_arrived(call, success);
    break;
  case CALL_CLOSED:
    on_closed(call);
    break;
  case CALL_ANSWERED:
    release(call);
    break;
  }
  rearm(source);
}
