#include "rpc/channel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include "tag.h"
#include "wire.h"

#define DEFAULT_MAX_REPLY_BYTES (4 * 1024 * 1024)

/* A path that was called once: the core keeps its headers ready. */
struct known_path {
  struct known_path *next;
  void *registered;
  char path[];
};

/* A call in flight, in the channel's ring. */
struct client_call {
  struct client_call *next;
  struct client_call *previous;
  void *tag;
  grpc_call *core;
  grpc_byte_buffer *request;
  grpc_byte_buffer *reply;
  grpc_metadata_array initial_metadata;
  grpc_metadata_array trailing_metadata;
  grpc_status_code status;
  grpc_slice message;
};

struct rpc_channel {
  grpc_channel *core;
  grpc_completion_queue *queue;
  struct known_path *paths;
  struct client_call calls; /* the ring's head */
  size_t in_flight;
};

int rpc_channel_create(const char *target, const struct rpc_channel_options *options,
                       struct rpc_channel **out, struct rpc_error *error) {
  struct rpc_channel *channel = calloc(1, sizeof(*channel));
  if (channel == NULL) {
    rpc_error_set(error, "out of memory for a channel to %s", target);
    return -1;
  }
  size_t max_reply_bytes = options != NULL ? options->max_reply_bytes : 0;
  if (max_reply_bytes == 0)
    max_reply_bytes = DEFAULT_MAX_REPLY_BYTES;
  grpc_arg args[] = {
      {.type = GRPC_ARG_INTEGER,
       .key = (char *)(uintptr_t)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
       .value.integer = (int)max_reply_bytes},
      {.type = GRPC_ARG_INTEGER,
       .key = (char *)(uintptr_t)GRPC_ARG_ENABLE_RETRIES,
       .value.integer = 0},
  };
  grpc_channel_args all = {.num_args = sizeof(args) / sizeof(args[0]), .args = args};
  grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
  channel->core = grpc_channel_create(target, credentials, &all);
  grpc_channel_credentials_release(credentials);
  channel->queue = grpc_completion_queue_create_for_next(NULL);
  channel->calls.next = &channel->calls;
  channel->calls.previous = &channel->calls;
  *out = channel;
  return 0;
}

/* The core's handle of a path, registered at its first use; NULL when memory ran out. */
static void *registered_path(struct rpc_channel *channel, const char *path) {
  for (struct known_path *known = channel->paths; known != NULL; known = known->next) {
    if (strcmp(known->path, path) == 0)
      return known->registered;
  }
  size_t length = strlen(path) + 1;
  struct known_path *known = malloc(sizeof(*known) + length);
  if (known == NULL)
    return NULL;
  memcpy(known->path, path, length);
  known->registered = grpc_channel_register_call(channel->core, path, NULL, NULL);
  known->next = channel->paths;
  channel->paths = known;
  return known->registered;
}

static struct client_call *call_create(struct rpc_channel *channel, void *registered,
                                       int64_t timeout_ns) {
  struct client_call *call = calloc(1, sizeof(*call));
  if (call == NULL)
    return NULL;
  gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);
  if (timeout_ns > 0)
    deadline =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(timeout_ns, GPR_TIMESPAN));
  call->core = grpc_channel_create_registered_call(channel->core, NULL, GRPC_PROPAGATE_DEFAULTS,
                                                   channel->queue, registered, deadline, NULL);
  call->message = grpc_empty_slice();
  grpc_metadata_array_init(&call->initial_metadata);
  grpc_metadata_array_init(&call->trailing_metadata);
  return call;
}

static void call_destroy(struct client_call *call) {
  grpc_call_unref(call->core);
  grpc_byte_buffer_destroy(call->request);
  if (call->reply != NULL)
    grpc_byte_buffer_destroy(call->reply);
  grpc_slice_unref(call->message);
  grpc_metadata_array_destroy(&call->initial_metadata);
  grpc_metadata_array_destroy(&call->trailing_metadata);
  free(call);
}

/* The whole call is one batch: one event says that it is over. */
static bool start_batch(struct client_call *call) {
  grpc_op ops[6] = {0};
  ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  ops[1].op = GRPC_OP_SEND_MESSAGE;
  ops[1].data.send_message.send_message = call->request;
  ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
  ops[3].data.recv_initial_metadata.recv_initial_metadata = &call->initial_metadata;
  ops[4].op = GRPC_OP_RECV_MESSAGE;
  ops[4].data.recv_message.recv_message = &call->reply;
  ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  ops[5].data.recv_status_on_client.trailing_metadata = &call->trailing_metadata;
  ops[5].data.recv_status_on_client.status = &call->status;
  ops[5].data.recv_status_on_client.status_details = &call->message;
  tag_give(call);
  return grpc_call_start_batch(call->core, ops, sizeof(ops) / sizeof(ops[0]), call, NULL) ==
         GRPC_CALL_OK;
}

int rpc_channel_call(struct rpc_channel *channel, const char *path, const void *request,
                     size_t request_bytes, int64_t timeout_ns, void *tag) {
  void *registered = registered_path(channel, path);
  if (registered == NULL)
    return -1;
  struct client_call *call = call_create(channel, registered, timeout_ns);
  if (call == NULL)
    return -1;
  call->tag = tag;
  call->request = wire_pack(request, request_bytes);
  if (!start_batch(call)) {
    call_destroy(call);
    return -1;
  }
  call->next = &channel->calls;
  call->previous = channel->calls.previous;
  call->previous->next = call;
  channel->calls.previous = call;
  channel->in_flight++;
  return 0;
}

/* Copies the reply out of the core; a call whose reply is no message turns INTERNAL. */
static void take_reply(struct client_call *call, struct rpc_completion *out) {
  static const char unreadable[] = "the reply cannot be unpacked";
  grpc_slice slice;
  if (call->reply == NULL || wire_unpack(call->reply, &slice) != 0) {
    out->status = RPC_INTERNAL;
    memcpy(out->message, unreadable, sizeof(unreadable));
    return;
  }
  size_t length = GRPC_SLICE_LENGTH(slice);
  out->reply = malloc(length > 0 ? length : 1);
  if (out->reply == NULL) {
    static const char no_memory[] = "out of memory for the reply";
    out->status = RPC_RESOURCE_EXHAUSTED;
    memcpy(out->message, no_memory, sizeof(no_memory));
  } else {
    memcpy(out->reply, GRPC_SLICE_START_PTR(slice), length);
    out->reply_bytes = length;
  }
  grpc_slice_unref(slice);
}

/* The core passes on whatever number the server sent. */
static enum rpc_status status_of(int code) {
  return code >= 0 && code < RPC_STATUS_COUNT ? (enum rpc_status)code : RPC_UNKNOWN;
}

static void complete(struct rpc_channel *channel, struct client_call *call,
                     struct rpc_completion *out) {
  *out = (struct rpc_completion){.tag = call->tag, .status = status_of((int)call->status)};
  if (out->status == RPC_OK) {
    take_reply(call, out);
  } else {
    size_t length = GRPC_SLICE_LENGTH(call->message);
    if (length >= sizeof(out->message))
      length = sizeof(out->message) - 1;
    memcpy(out->message, GRPC_SLICE_START_PTR(call->message), length);
    out->message[length] = '\0';
  }
  call->previous->next = call->next;
  call->next->previous = call->previous;
  channel->in_flight--;
  call_destroy(call);
}

bool rpc_channel_next(struct rpc_channel *channel, int64_t wait_ns, struct rpc_completion *out) {
  gpr_timespec until = gpr_inf_future(GPR_CLOCK_MONOTONIC);
  if (wait_ns >= 0)
    until = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(wait_ns, GPR_TIMESPAN));
  grpc_event event = grpc_completion_queue_next(channel->queue, until, NULL);
  if (event.type != GRPC_OP_COMPLETE)
    return false;
  tag_take(event.tag);
  complete(channel, event.tag, out);
  return true;
}

void rpc_completion_release(struct rpc_completion *completion) {
  free(completion->reply);
  completion->reply = NULL;
  completion->reply_bytes = 0;
}

void rpc_channel_cancel_all(struct rpc_channel *channel) {
  for (struct client_call *call = channel->calls.next; call != &channel->calls; call = call->next)
    grpc_call_cancel(call->core, NULL);
}

size_t rpc_channel_in_flight(const struct rpc_channel *channel) {
  return channel->in_flight;
}

void rpc_channel_destroy(struct rpc_channel *channel) {
  if (channel == NULL)
    return;
  rpc_channel_cancel_all(channel);
  while (channel->in_flight > 0) {
    struct rpc_completion completion;
    if (rpc_channel_next(channel, -1, &completion))
      rpc_completion_release(&completion);
  }
  grpc_completion_queue_shutdown(channel->queue);
  while (
      grpc_completion_queue_next(channel->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type !=
      GRPC_QUEUE_SHUTDOWN)
    continue;
  grpc_completion_queue_destroy(channel->queue);
  while (channel->paths != NULL) {
    struct known_path *next = channel->paths->next;
    free(channel->paths);
    channel->paths = next;
  }
  grpc_channel_destroy(channel->core);
  free(channel);
}
