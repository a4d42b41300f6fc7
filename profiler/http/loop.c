/*
 * Design notes
 *
 * One thread serves all clients with libmicrohttpd as an event-driven parser, run from a poll()
 * of our own (its epoll descriptor is one of those polled), and one thread makes profiles
 * (maker.c). A request for a profile is suspended: it costs a slot and a socket but no
 * thread, for however long it records. A thread a connection would have been
 * the alternative; it needs the same limits, up to 32 stacks, and cannot be told to close one
 * slow client so that another one gets its turn.
 *
 * Everything that belongs to a client, the daemon included, is touched by the serving thread
 * alone, so there are no locks here. What others touch: `stopping`, the eventfd, and a job
 * between maker_give() and maker_take().
 *
 * What libmicrohttpd leaves open is done here:
 * - it does not watch a suspended socket, so we poll those that record for a hang-up;
 * - its timeout starts anew with every byte, so we give each client a fixed time to send a
 *   request and another one to take the answer, and shut the socket down when it is over;
 * - at its limit it takes no connection until one ends, so we accept, and make room by closing the
 *   client that has been sending or taking for longest. Those that wait for profiles are at
 *   most half of the slots, so there always is one;
 * - when descriptors run out it spins, so we stop accepting for a tenth of a second.
 */
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "panic.h"
#include "server.h"

#define MS_NS INT64_C(1000000)
#define ACCEPT_PAUSE_NS (100 * MS_NS)

/* How soon it is noticed that the program closed our descriptors, which does not end a poll(). */
#define LOOK_ROUND_NS (1000 * MS_NS)

/* How long clients may take their last answers when the server stops. */
#define FAREWELL_NS (500 * MS_NS)

/* Places in `polled`; the sockets of clients follow. */
enum {
  POLLED_WAKE,
  POLLED_DAEMON,
  POLLED_LISTENER,
  POLLED_CLIENTS,
};

static int64_t earlier(int64_t one, int64_t other) {
  return one < other ? one : other;
}

/* When the next thing is due that no descriptor tells of. */
static int64_t next_due_ns(const struct folio_http *http, int64_t now_ns) {
  MHD_UNSIGNED_LONG_LONG daemon_ms;
  int64_t due_ns = now_ns + LOOK_ROUND_NS;
  if (MHD_get_timeout(http->daemon, &daemon_ms) == MHD_YES && daemon_ms < INT_MAX)
    due_ns = earlier(due_ns, now_ns + (int64_t)daemon_ms * MS_NS);
  if (http->accept_again_ns > now_ns)
    due_ns = earlier(due_ns, http->accept_again_ns);
  for (size_t i = 0; i < http->clients.limit; i++) {
    const struct client *client = &http->clients.slots[i];
    if (client->phase == CLIENT_RECORDING)
      due_ns = earlier(due_ns, client->ends_ns);
    if (client_is_timed(client))
      due_ns = earlier(due_ns, client->since_ns + http->client_timeout_ns);
  }
  return due_ns;
}

/* For poll(): rounded up, so that what is due is due when it returns. */
static int wait_ms(int64_t due_ns, int64_t now_ns) {
  return due_ns > now_ns ? (int)((due_ns - now_ns + MS_NS - 1) / MS_NS) : 0;
}

/* Whether a connection can be taken now, or room be made for it. */
static bool accepts(const struct folio_http *http, int64_t now_ns) {
  if (http->accept_again_ns > now_ns)
    return false;
  return http->clients.used < http->clients.limit || clients_slowest(&http->clients) != NULL;
}

static nfds_t list_polled(struct folio_http *http, int64_t now_ns) {
  struct pollfd *polled = http->polled;
  polled[POLLED_WAKE] = (struct pollfd){.fd = http->wake.fd, .events = POLLIN};
  polled[POLLED_DAEMON] = (struct pollfd){.fd = http->events.fd, .events = POLLIN};
  polled[POLLED_LISTENER] =
      (struct pollfd){.fd = accepts(http, now_ns) ? http->listener.fd : -1, .events = POLLIN};
  nfds_t count = POLLED_CLIENTS;
  for (size_t i = 0; i < http->clients.limit; i++) {
    const struct client *client = &http->clients.slots[i];
    if (client->phase == CLIENT_RECORDING)
      polled[count++] = (struct pollfd){.fd = client->socket, .events = POLLRDHUP};
  }
  return count;
}

static void resume(struct client *client, enum client_result result) {
  client->result = result;
  client_enter(client, CLIENT_ANSWERING, server_now_ns());
  MHD_resume_connection(client->connection);
}

static void abandon_recording(struct client *client, enum client_result result) {
  folio_session_stop(client->job.session, NULL, NULL);
  client->job.session = NULL;
  resume(client, result);
}

/* Ends the recordings of clients that hung up. `polled` is as list_polled() left it. */
static void drop_gone(struct folio_http *http) {
  const struct pollfd *polled = &http->polled[POLLED_CLIENTS];
  for (size_t i = 0; i < http->clients.limit; i++) {
    struct client *client = &http->clients.slots[i];
    if (client->phase != CLIENT_RECORDING)
      continue;
    if ((polled++)->revents != 0)
      abandon_recording(client, CLIENT_GONE);
  }
}

static void give_due(struct folio_http *http, int64_t now_ns) {
  for (size_t i = 0; i < http->clients.limit; i++) {
    struct client *client = &http->clients.slots[i];
    if (client->phase != CLIENT_RECORDING || client->ends_ns > now_ns)
      continue;
    client_enter(client, CLIENT_MAKING, now_ns);
    maker_give(http->maker, &client->job);
  }
}

static void resume_made(struct folio_http *http) {
  for (struct job *job = maker_take(http->maker); job != NULL; job = maker_take(http->maker))
    resume(job->owner, job->dropped ? CLIENT_STOPPED : CLIENT_MADE);
}

static void close_slow(struct folio_http *http, int64_t now_ns) {
  for (size_t i = 0; i < http->clients.limit; i++) {
    struct client *client = &http->clients.slots[i];
    if (client_is_timed(client) && now_ns - client->since_ns >= http->client_timeout_ns)
      client_close(client);
  }
}

/* Takes one connection, or makes room for it: then it is taken in the next turn. */
static void accept_one(struct folio_http *http, int64_t now_ns) {
  if (http->clients.used == http->clients.limit) {
    struct client *slowest = clients_slowest(&http->clients);
    if (slowest != NULL)
      client_close(slowest);
    return;
  }
  struct sockaddr_storage peer;
  socklen_t size = sizeof(peer);
  int socket =
      accept4(http->listener.fd, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket >= 0) {
    /* On failure it has closed the socket, which is all there is to do. */
    MHD_add_connection(http->daemon, socket, (struct sockaddr *)&peer, size);
    return;
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
    http->accept_again_ns = now_ns + ACCEPT_PAUSE_NS;
}

static void clear_wake(const struct folio_http *http) {
  uint64_t count;
  ssize_t got = read(http->wake.fd, &count, sizeof(count));
  (void)got; /* only that it is readable counts */
}

static bool descriptors_are_ours(const struct folio_http *http) {
  return descriptor_is_ours(&http->wake) && descriptor_is_ours(&http->events) &&
         descriptor_is_ours(&http->listener);
}

/* Waits for events and handles them. Returns false when our descriptors are not ours any more. */
static bool take_turn(struct folio_http *http) {
  int64_t now_ns = server_now_ns();
  nfds_t count = list_polled(http, now_ns);
  int ready = poll(http->polled, count, wait_ms(next_due_ns(http, now_ns), now_ns));
  if ((ready < 0 && errno != EINTR) || !descriptors_are_ours(http))
    return false;
  now_ns = server_now_ns();
  if (ready > 0) {
    if (http->polled[POLLED_WAKE].revents != 0)
      clear_wake(http);
    drop_gone(http);
    if (http->polled[POLLED_LISTENER].revents != 0)
      accept_one(http, now_ns);
  }
  give_due(http, now_ns);
  resume_made(http);
  close_slow(http, now_ns);
  MHD_run(http->daemon);
  return true;
}

static bool anyone_answering(const struct folio_http *http) {
  for (size_t i = 0; i < http->clients.limit; i++) {
    const struct client *client = &http->clients.slots[i];
    if (client->phase == CLIENT_ANSWERING && !client->closing)
      return true;
  }
  return false;
}

/* Gives clients a little time to take their answers. */
static void say_farewell(struct folio_http *http) {
  const int64_t until_ns = server_now_ns() + FAREWELL_NS;
  MHD_run(http->daemon);
  while (anyone_answering(http)) {
    int64_t now_ns = server_now_ns();
    int64_t due_ns = earlier(until_ns, next_due_ns(http, now_ns));
    struct pollfd events = {.fd = http->events.fd, .events = POLLIN};
    if (now_ns >= until_ns || poll(&events, 1, wait_ms(due_ns, now_ns)) < 0 ||
        !descriptor_is_ours(&http->events))
      break;
    close_slow(http, server_now_ns());
    MHD_run(http->daemon);
  }
}

struct run {
  struct folio_http *http;
  bool maker_stopped;
  bool ended; /* as it should */
};

/* Those whose profiles were not begun are told that the server stops. */
static void end_waiting(struct run *run) {
  struct clients *clients = &run->http->clients;
  maker_close(run->http->maker);
  for (size_t i = 0; i < clients->limit; i++) {
    if (clients->slots[i].phase == CLIENT_RECORDING)
      abandon_recording(&clients->slots[i], CLIENT_STOPPED);
  }
  maker_stop(run->http->maker);
  run->maker_stopped = true;
  resume_made(run->http);
}

/* Under the guard. */
static void serve(void *context) {
  struct run *run = context;
  struct folio_http *http = run->http;
  while (!atomic_load_explicit(&http->stopping, memory_order_acquire)) {
    if (!take_turn(http))
      return;
  }
  if (!descriptors_are_ours(http))
    return;
  descriptor_close(&http->listener);
  end_waiting(run);
  say_farewell(http);
  if (!descriptor_is_ours(&http->events))
    return;
  MHD_stop_daemon(http->daemon);
  run->ended = true;
}

/*
 * The daemon is beyond use. It is left as it is, with its sockets, since their numbers may
 * stand for files of the program's by now.
 */
static void give_up(struct run *run, const char *reason) {
  struct folio_http *http = run->http;
  http_log_line(&http->log, "the profile server has ended: %s", reason);
  descriptor_close(&http->listener);
  if (!run->maker_stopped)
    maker_stop(http->maker);
  while (maker_take(http->maker) != NULL)
    continue; /* the job is its client's */
  for (size_t i = 0; i < http->clients.limit; i++) {
    struct client *client = &http->clients.slots[i];
    if (client->phase == CLIENT_FREE)
      continue;
    if (client->job.session != NULL)
      folio_session_stop(client->job.session, NULL, NULL);
    folio_profile_free(client->job.profile);
  }
}

void *loop_run(void *context) {
  struct run run = {.http = context};
  char reason[256] = "the program closed its descriptors";
  bool returned = panic_guard(serve, &run, reason, sizeof(reason));
  if (!returned || !run.ended)
    give_up(&run, reason);
  return NULL;
}
