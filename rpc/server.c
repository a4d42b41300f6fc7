/*
 * Design notes
 *
 * One completion queue a queue thread. A queue thread takes tags, moves calls on
 * (call.c), and never blocks on anything else. Every method, and the set of all
 * other paths, has a few slots armed on every queue.
 *
 * Draining: the core stops taking calls and posts `drained_tag` when the last
 * one has ended. The drainer waits for it up to the grace, cancels what is left,
 * and waits again: handlers see `cancelled` and return. Then the workers are
 * joined, and only then the queues are shut down, because a handler that still
 * ran could start a batch.
 *
 * `mutex` guards `drained` alone and is held with no other lock.
 */
#include "rpc/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include "call.h"
#include "tag.h"

/* Slots armed per method and queue: the calls that one wake-up may bring. */
#define ARMED_SLOTS 16

/* A peer that is gone without a word is noticed after this time. */
#define KEEPALIVE_TIME_MS 60000
#define KEEPALIVE_TIMEOUT_MS 20000

/*
 * All that the core may hold for this server. It checks a message's size only when the
 * whole message is there, so the limit of a message alone bounds nothing.
 */
#define CORE_MEMORY_BYTES (256UL << 20)

/* Open streams of one connection past the calls in flight: those that wait for their refusal. */
#define WAITING_STREAMS 1024

/* When no call is left, a connection has this time to say goodbye. */
#define GOODBYE_NS INT64_C(1000000000)

struct queue_thread {
  struct rpc_server *server;
  grpc_completion_queue *queue;
  pthread_t thread;
  bool started;
};

struct rpc_server {
  grpc_server *core;
  int port;
  struct call_gate gate;
  struct call_source *sources; /* queue_count x source_count */
  size_t source_count;         /* per queue: the methods and, last, every other path */
  struct queue_thread *queues;
  int queue_count;
  bool drain_done;
  char drained_tag; /* its address is the tag */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool drained;
};

static int processor_count(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return 1;
  return CPU_COUNT(&allowed);
}

static struct rpc_server_options with_defaults(const struct rpc_server_options *options) {
  struct rpc_server_options result = {0};
  if (options != NULL)
    memcpy(&result, options, options->size < sizeof(result) ? options->size : sizeof(result));
  if (result.host == NULL)
    result.host = "127.0.0.1";
  if (result.queue_threads <= 0)
    result.queue_threads = 1;
  if (result.worker_threads <= 0)
    result.worker_threads = processor_count();
  if (result.max_in_flight <= 0)
    result.max_in_flight = 1024;
  if (result.max_request_bytes == 0)
    result.max_request_bytes = 64 * 1024;
  return result;
}

static void *serve_queue(void *argument) {
  struct queue_thread *self = argument;
  struct rpc_server *server = self->server;
  for (;;) {
    grpc_event event =
        grpc_completion_queue_next(self->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    if (event.type == GRPC_QUEUE_SHUTDOWN)
      return NULL;
    tag_take(event.tag);
    if (event.tag != &server->drained_tag) {
      call_advance(event.tag, event.success != 0);
      continue;
    }
    pthread_mutex_lock(&server->mutex);
    server->drained = true;
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->mutex);
  }
}

static void create_core(struct rpc_server *server, const struct rpc_server_options *options) {
  grpc_resource_quota *quota = grpc_resource_quota_create("server");
  grpc_resource_quota_resize(quota, CORE_MEMORY_BYTES);
  grpc_arg args[] = {
      {.type = GRPC_ARG_INTEGER,
       .key = (char *)(uintptr_t)GRPC_ARG_ALLOW_REUSEPORT,
       .value.integer = 0},
      {.type = GRPC_ARG_INTEGER,
       .key = (char *)(uintptr_t)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
       .value.integer = (int)options->max_request_bytes},
      {.type = GRPC_ARG_INTEGER,
       .key = (char *)(uintptr_t)GRPC_ARG_KEEPALIVE_TIME_MS,
       .value.integer = KEEPALIVE_TIME_MS},
      {.type = GRPC_ARG_INTEGER,
       .key = (char *)(uintptr_t)GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
       .value.integer = KEEPALIVE_TIMEOUT_MS},
      {.type = GRPC_ARG_INTEGER,
       .key = (char *)(uintptr_t)GRPC_ARG_MAX_CONCURRENT_STREAMS,
       .value.integer = options->max_in_flight + WAITING_STREAMS},
      {.type = GRPC_ARG_POINTER,
       .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
       .value.pointer = {.p = quota, .vtable = grpc_resource_quota_arg_vtable()}},
  };
  grpc_channel_args all = {.num_args = sizeof(args) / sizeof(args[0]), .args = args};
  server->core = grpc_server_create(&all, NULL);
  grpc_resource_quota_unref(quota);
}

/* Why the core could not bind: it only says that it could not, so we try ourselves. */
static void explain_bind_failure(const char *host, int port, struct rpc_error *error) {
  char service[8];
  snprintf(service, sizeof(service), "%d", port);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
  struct addrinfo *addresses = NULL;
  int failure = getaddrinfo(host, service, &hints, &addresses);
  if (failure != 0) {
    rpc_error_set(error, "cannot listen on %s:%d: %s; give an address of this machine", host, port,
                  gai_strerror(failure));
    return;
  }
  int bind_errno = EADDRINUSE;
  int probe = socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe >= 0) {
    if (bind(probe, addresses->ai_addr, addresses->ai_addrlen) != 0)
      bind_errno = errno;
    close(probe);
  }
  freeaddrinfo(addresses);
  rpc_error_set(error, "cannot listen on %s:%d: %s; %s", host, port, strerror(bind_errno),
                bind_errno == EADDRINUSE ? "stop what uses it or choose another port (0 picks one)"
                                         : "choose another address or port");
}

static int bind_address(struct rpc_server *server, const struct rpc_server_options *options,
                        struct rpc_error *error) {
  char address[300];
  bool bare_ipv6 = strchr(options->host, ':') != NULL && options->host[0] != '[';
  snprintf(address, sizeof(address), bare_ipv6 ? "[%s]:%d" : "%s:%d", options->host, options->port);
  grpc_server_credentials *credentials = grpc_insecure_server_credentials_create();
  server->port = grpc_server_add_http2_port(server->core, address, credentials);
  grpc_server_credentials_release(credentials);
  if (server->port != 0)
    return 0;
  explain_bind_failure(options->host, options->port, error);
  return -1;
}

/* Registers the methods with the core and lays out the sources of every queue. */
static int create_sources(struct rpc_server *server, const struct rpc_method *methods,
                          size_t method_count, struct rpc_error *error) {
  server->source_count = method_count + 1;
  server->sources =
      calloc((size_t)server->queue_count * server->source_count, sizeof(*server->sources));
  if (server->sources == NULL) {
    rpc_error_set(error, "out of memory for %zu methods", method_count);
    return -1;
  }
  for (size_t i = 0; i < server->source_count; i++) {
    struct call_source source = {.core = server->core, .gate = &server->gate};
    if (i < method_count) {
      source.method = methods[i];
      source.registered = grpc_server_register_method(server->core, methods[i].path, NULL,
                                                      GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
      if (source.registered == NULL) {
        rpc_error_set(error, "method %s is registered twice", methods[i].path);
        return -1;
      }
    }
    for (int queue = 0; queue < server->queue_count; queue++) {
      source.queue = server->queues[queue].queue;
      server->sources[(size_t)queue * server->source_count + i] = source;
    }
  }
  return 0;
}

static int create_queues(struct rpc_server *server, int queue_count, struct rpc_error *error) {
  server->queues = calloc((size_t)queue_count, sizeof(*server->queues));
  if (server->queues == NULL) {
    rpc_error_set(error, "out of memory for %d queue threads", queue_count);
    return -1;
  }
  server->queue_count = queue_count;
  for (int i = 0; i < queue_count; i++) {
    struct queue_thread *queue = &server->queues[i];
    queue->server = server;
    queue->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(server->core, queue->queue, NULL);
  }
  return 0;
}

static int arm_sources(struct rpc_server *server, struct rpc_error *error) {
  size_t count = (size_t)server->queue_count * server->source_count;
  for (size_t i = 0; i < count; i++) {
    for (int slot = 0; slot < ARMED_SLOTS; slot++) {
      if (call_arm(&server->sources[i]) != 0) {
        rpc_error_set(error, "out of memory for %d calls a method", ARMED_SLOTS);
        return -1;
      }
    }
  }
  return 0;
}

static int start_queue_threads(struct rpc_server *server, struct rpc_error *error) {
  for (int i = 0; i < server->queue_count; i++) {
    struct queue_thread *queue = &server->queues[i];
    int failure = pthread_create(&queue->thread, NULL, serve_queue, queue);
    if (failure != 0) {
      rpc_error_set(error, "cannot start queue thread %d of %d: %s; ask for fewer threads", i + 1,
                    server->queue_count, strerror(failure));
      return -1;
    }
    queue->started = true;
    char name[32];
    snprintf(name, sizeof(name), "queue-%d", i);
    name[15] = '\0'; /* the kernel takes no longer name */
    pthread_setname_np(queue->thread, name);
  }
  return 0;
}

static struct rpc_server *server_allocate(const struct rpc_server_options *options) {
  struct rpc_server *server = calloc(1, sizeof(*server));
  if (server == NULL)
    return NULL;
  server->gate.max_in_flight = options->max_in_flight;
  pthread_mutex_init(&server->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&server->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return server;
}

int rpc_server_start(const struct rpc_server_options *options, const struct rpc_method *methods,
                     size_t method_count, struct rpc_server **out, struct rpc_error *error) {
  struct rpc_server_options used = with_defaults(options);
  struct rpc_server *server = server_allocate(&used);
  if (server == NULL) {
    rpc_error_set(error, "out of memory for a server");
    return -1;
  }
  create_core(server, &used);
  if (create_queues(server, used.queue_threads, error) != 0 ||
      bind_address(server, &used, error) != 0 ||
      workers_start(used.worker_threads, call_run, &server->gate.workers, error) != 0 ||
      create_sources(server, methods, method_count, error) != 0 ||
      start_queue_threads(server, error) != 0)
    goto failed;
  grpc_server_start(server->core);
  if (arm_sources(server, error) != 0)
    goto failed;
  *out = server;
  return 0;

failed:
  rpc_server_destroy(server);
  return -1;
}

int rpc_server_port(const struct rpc_server *server) {
  return server->port;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits for `drained` until a time; under the mutex. */
static void wait_until(struct rpc_server *server, int64_t until_ns) {
  struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
  pthread_cond_timedwait(&server->changed, &server->mutex, &until);
}

/*
 * Waits until the core has no call and no connection left. False when the time passed
 * first, or when only connections are left that do not close: the core would wait 20
 * seconds for a silent peer to acknowledge that it may send nothing any more.
 */
static bool wait_drained(struct rpc_server *server, int64_t grace_ns) {
  const int64_t look_ns = GOODBYE_NS / 10;
  int64_t now = now_ns();
  int64_t end_ns = grace_ns < INT64_MAX - now ? now + grace_ns : INT64_MAX;
  int64_t quiet_since_ns = INT64_MAX;
  pthread_mutex_lock(&server->mutex);
  for (; !server->drained && now < end_ns; now = now_ns()) {
    if (atomic_load_explicit(&server->gate.alive, memory_order_relaxed) > 0)
      quiet_since_ns = INT64_MAX;
    else if (quiet_since_ns == INT64_MAX)
      quiet_since_ns = now;
    else if (now - quiet_since_ns >= GOODBYE_NS)
      break;
    wait_until(server, end_ns - now < look_ns ? end_ns : now + look_ns);
  }
  bool drained = server->drained;
  pthread_mutex_unlock(&server->mutex);
  return drained;
}

static void wait_drained_for_ever(struct rpc_server *server) {
  pthread_mutex_lock(&server->mutex);
  while (!server->drained)
    pthread_cond_wait(&server->changed, &server->mutex);
  pthread_mutex_unlock(&server->mutex);
}

/* Shuts the queues down; a queue whose thread never started is emptied here. */
static void stop_queues(struct rpc_server *server) {
  for (int i = 0; i < server->queue_count; i++)
    grpc_completion_queue_shutdown(server->queues[i].queue);
  for (int i = 0; i < server->queue_count; i++) {
    struct queue_thread *queue = &server->queues[i];
    if (queue->started)
      pthread_join(queue->thread, NULL);
    else
      serve_queue(queue);
    grpc_completion_queue_destroy(queue->queue);
  }
  server->queue_count = 0;
}

int rpc_server_drain(struct rpc_server *server, int64_t grace_ns) {
  int cancelled = 0;
  server->drain_done = true;
  atomic_store_explicit(&server->gate.closed, true, memory_order_relaxed);
  if (server->queue_count > 0) {
    tag_give(&server->drained_tag);
    grpc_server_shutdown_and_notify(server->core, server->queues[0].queue, &server->drained_tag);
    if (server->queues[0].started && !wait_drained(server, grace_ns)) {
      cancelled = atomic_load_explicit(&server->gate.in_flight, memory_order_relaxed);
      grpc_server_cancel_all_calls(server->core);
      wait_drained_for_ever(server);
    }
  }
  workers_stop(server->gate.workers);
  server->gate.workers = NULL;
  stop_queues(server);
  return cancelled;
}

void rpc_server_destroy(struct rpc_server *server) {
  if (server == NULL)
    return;
  if (!server->drain_done)
    rpc_server_drain(server, 0);
  if (server->core != NULL)
    grpc_server_destroy(server->core);
  pthread_cond_destroy(&server->changed);
  pthread_mutex_destroy(&server->mutex);
  free(server->queues);
  free(server->sources);
  free(server);
}

void rpc_server_stats(const struct rpc_server *server, struct rpc_server_stats *out) {
  const struct call_gate *gate = &server->gate;
  out->calls = atomic_load_explicit(&gate->calls, memory_order_relaxed);
  out->refused = atomic_load_explicit(&gate->refused, memory_order_relaxed);
  out->cancelled = atomic_load_explicit(&gate->cancelled, memory_order_relaxed);
  out->in_flight = atomic_load_explicit(&gate->in_flight, memory_order_relaxed);
}
