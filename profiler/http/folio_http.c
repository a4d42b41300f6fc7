/* Start and stop; what happens between is in loop.c. */
#include "http/folio_http.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"
#include "quiet_thread.h"
#include "serve.h"
#include "server.h"

/* Room for a request line, its headers, and the headers of the answer. */
#define CONNECTION_BYTES (16 * 1024)

#define MIN_CONNECTIONS 4
#define MAX_CONNECTIONS 1024

int64_t server_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

__attribute__((format(printf, 3, 4))) static enum folio_status
fail(struct folio_error *error, enum folio_status status, const char *format, ...) {
  if (error == NULL)
    return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof(error->message), format, arguments);
  va_end(arguments);
  return status;
}

static struct folio_http_options with_defaults(const struct folio_http_options *options) {
  struct folio_http_options result = {0};
  if (options != NULL)
    memcpy(&result, options, options->size < sizeof(result) ? options->size : sizeof(result));
  if (result.address == NULL)
    result.address = "127.0.0.1:7789";
  if (result.max_connections == 0)
    result.max_connections = 32;
  if (result.max_seconds == 0)
    result.max_seconds = 3600;
  if (result.client_timeout_ms == 0)
    result.client_timeout_ms = 30000;
  if (result.heap_switch == NULL)
    result.heap_switch = "the option heap of folio_start()";
  return result;
}

/* What libmicrohttpd has to say. */
__attribute__((format(printf, 2, 0))) static void take_message(void *context, const char *format,
                                                               va_list arguments) {
  struct folio_http *http = context;
  http_log_write(&http->log, format, arguments);
}

static enum folio_status start_daemon(struct folio_http *http, struct folio_error *error) {
  const unsigned int flags =
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
  struct MHD_OptionItem options[] = {
      {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)take_message, http}, /* first, to see all */
      {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)http->clients.limit, NULL},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL},
      {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
      {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)serve_uri, http},
      {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)serve_connection, http},
      {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)serve_completed, http},
      {MHD_OPTION_END, 0, NULL},
  };
  http->daemon = MHD_start_daemon(flags, 0, NULL, NULL, serve_request, http, MHD_OPTION_ARRAY,
                                  options, MHD_OPTION_END);
  const union MHD_DaemonInfo *info =
      http->daemon != NULL ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
  if (info == NULL)
    return fail(error, FOLIO_SYSTEM,
                "cannot start libmicrohttpd: out of memory or of file descriptors");
  http->events = descriptor_of(info->epoll_fd);
  return FOLIO_OK;
}

static enum folio_status start_threads(struct folio_http *http, struct folio_error *error) {
  int failure = maker_start(&http->wake, &http->maker);
  if (failure == 0) {
    failure = quiet_thread_start("folio-http", loop_run, http, &http->thread);
    if (failure != 0)
      maker_stop(http->maker);
  }
  if (failure != 0)
    return fail(error, FOLIO_SYSTEM, "cannot start a thread of the profile server: %s",
                strerror(failure));
  return FOLIO_OK;
}

static enum folio_status prepare(struct folio_http *http, size_t max_connections,
                                 struct folio_error *error) {
  http->polled = calloc(max_connections + 3, sizeof(*http->polled));
  if (http->polled == NULL || clients_init(&http->clients, max_connections) != 0)
    return fail(error, FOLIO_NO_MEMORY, "out of memory for %zu connections", max_connections);
  http->wake = descriptor_of(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (http->wake.fd < 0)
    return fail(error, FOLIO_SYSTEM, "cannot create an eventfd: %s", strerror(errno));
  int listener;
  enum folio_status status = address_listen(&http->address, &listener, &http->port, error);
  if (status == FOLIO_OK)
    http->listener = descriptor_of(listener);
  return status;
}

static enum folio_status check_options(const struct folio_http_options *options,
                                       struct folio_error *error) {
  if (options->max_connections < MIN_CONNECTIONS || options->max_connections > MAX_CONNECTIONS)
    return fail(error, FOLIO_INVALID, "max_connections is %u: it must be from %d to %d",
                options->max_connections, MIN_CONNECTIONS, MAX_CONNECTIONS);
  return FOLIO_OK;
}

/* Frees what no thread uses. The daemon was stopped, or was never there. */
static void release(struct folio_http *http) {
  descriptor_close(&http->listener);
  descriptor_close(&http->wake);
  maker_destroy(http->maker);
  clients_fini(&http->clients);
  free(http->polled);
  free(http);
}

static struct folio_http *allocate(const struct folio_http_options *options) {
  struct folio_http *http = calloc(1, sizeof(*http));
  if (http == NULL)
    return NULL;
  http->listener.fd = -1;
  http->wake.fd = -1;
  http->owner = getpid();
  http->max_seconds = options->max_seconds;
  http->client_timeout_ns = options->client_timeout_ms * INT64_C(1000000);
  http->log = (struct http_log){.write = options->log, .context = options->log_context};
  snprintf(http->heap_switch, sizeof(http->heap_switch), "%s", options->heap_switch);
  return http;
}

enum folio_status folio_http_start(const struct folio_http_options *options,
                                   struct folio_http **out, struct folio_error *error) {
  const struct folio_http_options filled = with_defaults(options);
  enum folio_status status = check_options(&filled, error);
  if (status != FOLIO_OK)
    return status;
  struct folio_http *http = allocate(&filled);
  if (http == NULL)
    return fail(error, FOLIO_NO_MEMORY, "out of memory for a profile server");
  status = address_parse(filled.address, &http->address, error);
  if (status == FOLIO_OK)
    status = prepare(http, filled.max_connections, error);
  if (status == FOLIO_OK)
    status = start_daemon(http, error);
  if (status == FOLIO_OK)
    status = start_threads(http, error);
  if (status == FOLIO_OK) {
    *out = http;
    return FOLIO_OK;
  }
  if (http->daemon != NULL)
    MHD_stop_daemon(http->daemon);
  release(http);
  return status;
}

uint16_t folio_http_port(const struct folio_http *http) {
  return http->port;
}

void folio_http_stop(struct folio_http *http) {
  if (http == NULL)
    return;
  /* A child of fork() has no such threads, and the parent's locks may be held in it. */
  if (http->owner != getpid()) {
    descriptor_close(&http->listener);
    return;
  }
  atomic_store_explicit(&http->stopping, true, memory_order_release);
  descriptor_wake(&http->wake);
  pthread_join(http->thread, NULL);
  release(http);
}
