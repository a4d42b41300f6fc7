/* Answers one request, or starts what has to be waited for. */
#include "serve.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "answer.h"
#include "host.h"
#include "index_page.h"
#include "server.h"

/* A request has no use for a body; one that is longer ends the connection. */
#define BODY_BYTES_MAX 65536

static struct client *client_of(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info != NULL ? info->socket_context : NULL;
}

void serve_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode code) {
  struct folio_http *http = context;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *socket_context = clients_take(&http->clients, connection, info->connect_fd, server_now_ns());
  } else if (*socket_context != NULL) {
    clients_release(&http->clients, *socket_context);
    *socket_context = NULL;
  }
}

void *serve_uri(void *context, const char *uri, struct MHD_Connection *connection) {
  const struct folio_http *http = context;
  struct client *client = client_of(connection);
  if (client != NULL)
    client->plan = plan_make(uri != NULL ? uri : "", http->max_seconds);
  return client;
}

void serve_completed(void *context, struct MHD_Connection *connection, void **request,
                     enum MHD_RequestTerminationCode code) {
  (void)context;
  (void)connection;
  (void)code;
  if (*request != NULL)
    client_forget_request(*request, server_now_ns());
  *request = NULL;
}

struct host_search {
  const char *listen_host;
  unsigned int found;
  bool allowed;
};

static enum MHD_Result look_for_host(void *context, enum MHD_ValueKind kind, const char *key,
                                     size_t key_size, const char *value, size_t value_size) {
  static const char name[] = "host";
  struct host_search *search = context;
  (void)kind;
  if (key_size != sizeof(name) - 1 || strncasecmp(key, name, key_size) != 0)
    return MHD_YES;
  search->found++;
  search->allowed = value != NULL && host_allowed(value, value_size, search->listen_host);
  return MHD_YES;
}

/* Exactly one Host header, and one that we answer to. */
static bool host_is_ours(const struct folio_http *http, struct MHD_Connection *connection) {
  struct host_search search = {.listen_host = http->address.host};
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, look_for_host, &search);
  return search.found == 1 && search.allowed;
}

static enum MHD_Result refuse_host(const struct folio_http *http,
                                   struct MHD_Connection *connection) {
  char message[400];
  snprintf(message, sizeof(message),
           "this Host is not served: ask for localhost, 127.0.0.1, [::1] or %s, or let the "
           "profile server listen on the name",
           http->address.host);
  return answer_error(connection, MHD_HTTP_FORBIDDEN, message);
}

/* Why there is no profile, with the statuses and texts that Go gives. */
static enum MHD_Result refuse_profile(const struct folio_http *http, const struct client *client,
                                      enum folio_status status, const struct folio_error *error) {
  char message[sizeof(error->message) + 64];
  unsigned int code = MHD_HTTP_INTERNAL_SERVER_ERROR;
  if (client->plan.type == FOLIO_CPU) {
    snprintf(message, sizeof(message), "Could not enable CPU profiling: %s", error->message);
  } else if (status == FOLIO_UNSUPPORTED) {
    code = MHD_HTTP_NOT_FOUND;
    snprintf(message, sizeof(message), "heap sampling is off: switch it on with %s",
             http->heap_switch);
  } else {
    snprintf(message, sizeof(message), "failed to collect profile: %s", error->message);
  }
  return answer_error(client->connection, code, message);
}

/* Whether Folio can record the type: it starts to and stops at once. */
static enum folio_status try_type(enum folio_type type, struct folio_error *error) {
  struct folio_session *session;
  enum folio_status status = folio_session_start(type, 0, &session, error);
  if (status == FOLIO_OK)
    folio_session_stop(session, NULL, NULL);
  return status;
}

static enum MHD_Result answer_head(const struct folio_http *http, const struct client *client) {
  struct folio_error error;
  enum folio_status status = try_type(client->plan.type, &error);
  if (status != FOLIO_OK)
    return refuse_profile(http, client, status, &error);
  return answer_profile_head(client->connection, client->plan.file_name);
}

static enum MHD_Result answer_index(const struct folio_http *http,
                                    struct MHD_Connection *connection) {
  struct folio_error error;
  size_t length;
  bool heap_on = try_type(FOLIO_ALLOCS, &error) == FOLIO_OK;
  char *page = index_page(heap_on, http->heap_switch, &length);
  return page != NULL ? answer_page(connection, page, length) : MHD_NO;
}

/* Lets the client wait for a recording's end or for the maker. */
static enum MHD_Result start_profile(struct folio_http *http, struct client *client) {
  if (clients_count_suspended(&http->clients) >= http->clients.limit / 2)
    return answer_error(client->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                        "too many clients wait for profiles: try again later");
  client->job = (struct job){.owner = client, .type = client->plan.type};
  if (client->plan.kind == PLAN_RECORD) {
    const int64_t duration_ns = client->plan.seconds * INT64_C(1000000000);
    enum folio_status status = folio_session_start(client->plan.type, duration_ns,
                                                   &client->job.session, &client->job.error);
    if (status != FOLIO_OK)
      return refuse_profile(http, client, status, &client->job.error);
    client_enter(client, CLIENT_RECORDING, server_now_ns());
    client->ends_ns = client->since_ns + duration_ns;
  } else {
    client_enter(client, CLIENT_MAKING, server_now_ns());
    maker_give(http->maker, &client->job);
  }
  MHD_suspend_connection(client->connection);
  return MHD_YES;
}

static enum MHD_Result begin(struct folio_http *http, struct client *client, const char *method) {
  bool head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
  if (!host_is_ours(http, client->connection))
    return refuse_host(http, client->connection);
  if (!head && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
    return answer_error(client->connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                        "method not allowed: use GET or HEAD");
  switch (client->plan.kind) {
  case PLAN_ERROR:
    return answer_error(client->connection, client->plan.status, client->plan.message);
  case PLAN_REDIRECT:
    return answer_redirect(client->connection, PLAN_ROOT);
  case PLAN_INDEX:
    return answer_index(http, client->connection);
  case PLAN_RECORD:
  case PLAN_SNAPSHOT:
    break;
  }
  return head ? answer_head(http, client) : start_profile(http, client);
}

/* After the wait. */
static enum MHD_Result finish(const struct folio_http *http, struct client *client) {
  struct job *job = &client->job;
  if (client->result == CLIENT_GONE) /* or only its sending half: then it reads this */
    return answer_error(client->connection, MHD_HTTP_BAD_REQUEST,
                        "no profile: the client closed the connection");
  if (client->result == CLIENT_STOPPED)
    return answer_error(client->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                        "no profile: the profile server is stopping");
  if (job->status != FOLIO_OK)
    return refuse_profile(http, client, job->status, &job->error);
  struct folio_profile *profile = job->profile;
  job->profile = NULL;
  return answer_profile(client->connection, client->plan.file_name, profile);
}

enum MHD_Result serve_request(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request) {
  struct folio_http *http = context;
  struct client *client = *request;
  (void)connection;
  (void)url;
  (void)version;
  (void)upload;
  if (client == NULL)
    return MHD_NO;
  if (!client->begun) {
    client->begun = true; /* an answer before the body was read would cost the connection */
    return MHD_YES;
  }
  if (*upload_size > 0) {
    client->body_bytes += *upload_size;
    *upload_size = 0;
    return client->body_bytes <= BODY_BYTES_MAX ? MHD_YES : MHD_NO;
  }
  client_enter(client, CLIENT_ANSWERING, server_now_ns());
  if (client->result != CLIENT_PENDING)
    return finish(http, client);
  if (atomic_load_explicit(&http->stopping, memory_order_acquire))
    client->result = CLIENT_STOPPED;
  return client->result == CLIENT_PENDING ? begin(http, client, method) : finish(http, client);
}
