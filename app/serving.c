#include "app/serving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/text.h"
#include "server/service.h"

struct serving {
  const struct flags *flags;
  struct corpus *corpus;
  struct service *service;
  struct rpc_server *server;
  char target[300];
};

static void log_corpus(const struct corpus *corpus, struct log *log) {
  static const struct {
    const char *before;
    const char *after;
  } kinds[] = {
      [CORPUS_REAL] = {"the real text", ""},
      [CORPUS_STAND_IN] = {"generated stand-in text",
                           "; run scripts/fetch-corpus for the real one"},
      [CORPUS_OTHER] = {"another text", ""},
  };
  enum corpus_kind kind = corpus_kind(corpus);
  char works[TEXT_GROUPED_BYTES];
  char lines[TEXT_GROUPED_BYTES];
  char bytes[TEXT_GROUPED_BYTES];
  text_format_grouped(corpus_work_count(corpus), works);
  text_format_grouped(corpus_lines(corpus), lines);
  text_format_grouped(corpus_bytes(corpus), bytes);
  log_line(log, "%s: %s works, %s lines, %s bytes in %s%s", kinds[kind].before, works, lines, bytes,
           corpus_folder(corpus), kinds[kind].after);
}

static int open_corpus(struct serving *serving, struct log *log, struct app_error *error) {
  struct corpus_error reason;
  if (corpus_find(serving->flags->corpus, &serving->corpus, &reason) != 0) {
    app_error_set(error, "%s", reason.message);
    return -1;
  }
  log_corpus(serving->corpus, log);
  return 0;
}

static int create_service(struct serving *serving, struct log *log, struct app_error *error) {
  const struct match_version *version = serving->flags->version;
  struct match_error reason;
  log_line(log, "version %d of the server's code: %s", version->number, version->name);
  if (service_create(version, serving->corpus, serving->flags->label_query, &serving->service,
                     &reason) != 0) {
    app_error_set(error, "%s", reason.message);
    return -1;
  }
  return 0;
}

static int start_server(struct serving *serving, struct app_error *error) {
  const struct flags *flags = serving->flags;
  struct rpc_server_options options = {
      .size = sizeof(options),
      .host = flags->listen,
      .port = (int)flags->port,
      .queue_threads = (int)flags->queue_threads,
      .worker_threads = (int)flags->worker_threads,
      .max_in_flight = (int)flags->max_in_flight,
      .max_request_bytes = (size_t)flags->max_request_bytes,
  };
  size_t count;
  const struct rpc_method *methods = service_methods(serving->service, &count);
  struct rpc_error reason;
  if (rpc_server_start(&options, methods, count, &serving->server, &reason) != 0) {
    app_error_set(error, "%s", reason.message);
    return -1;
  }
  return 0;
}

/* Writes "host:port", with the brackets that an IPv6 address needs. */
static void format_address(const char *host, int port, char *out, size_t out_bytes) {
  bool bare_ipv6 = strchr(host, ':') != NULL && host[0] != '[';
  snprintf(out, out_bytes, bare_ipv6 ? "[%s]:%d" : "%s:%d", host, port);
}

/* A host that stands for all addresses is reached over loopback. */
static const char *reachable_host(const char *host) {
  if (strcmp(host, "0.0.0.0") == 0)
    return "127.0.0.1";
  if (strcmp(host, "::") == 0 || strcmp(host, "[::]") == 0)
    return "::1";
  return host;
}

int serving_start(const struct flags *flags, struct log *log, struct serving **out,
                  struct app_error *error) {
  struct serving *serving = calloc(1, sizeof(*serving));
  if (serving == NULL) {
    app_error_set(error, "out of memory");
    return -1;
  }
  serving->flags = flags;
  if (open_corpus(serving, log, error) != 0 || create_service(serving, log, error) != 0 ||
      start_server(serving, error) != 0) {
    serving_stop(serving);
    return -1;
  }
  int port = rpc_server_port(serving->server);
  char address[sizeof(serving->target)];
  format_address(flags->listen, port, address, sizeof(address));
  format_address(reachable_host(flags->listen), port, serving->target, sizeof(serving->target));
  log_line(log, "%s is listening on %s", program_name(flags->program), address);
  *out = serving;
  return 0;
}

void serving_stop(struct serving *serving) {
  if (serving == NULL)
    return;
  rpc_server_destroy(serving->server);
  service_destroy(serving->service);
  corpus_close(serving->corpus);
  free(serving);
}

int serving_drain(struct serving *serving) {
  return rpc_server_drain(serving->server, serving->flags->drain_timeout_ns);
}

const char *serving_target(const struct serving *serving) {
  return serving->target;
}

const struct corpus *serving_corpus(const struct serving *serving) {
  return serving->corpus;
}

void serving_stats(const struct serving *serving, struct rpc_server_stats *out) {
  rpc_server_stats(serving->server, out);
}
