#ifndef HTTP_CLIENTS_H
#define HTTP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

#include "maker.h"
#include "plan.h"

/* What a connection is doing. */
enum client_phase {
  CLIENT_FREE,      /* nothing: the slot is not used */
  CLIENT_READING,   /* sending a request, or idle between two */
  CLIENT_RECORDING, /* waiting, suspended, until its session's time is over */
  CLIENT_MAKING,    /* waiting, suspended, for the maker */
  CLIENT_ANSWERING, /* taking its answer */
};

/* How the wait of a suspended client ended. */
enum client_result {
  CLIENT_PENDING, /* it has not waited, or still does */
  CLIENT_MADE,    /* the job's profile or error is there */
  CLIENT_STOPPED, /* the server stops */
  CLIENT_GONE,    /* it hung up */
};

/* One connection and the request on it. */
struct client {
  enum client_phase phase;
  int64_t since_ns; /* when the phase began, monotonic */
  bool closing;     /* shut down: libmicrohttpd will close it */
  struct MHD_Connection *connection;
  int socket;
  struct plan plan;
  bool begun; /* the request's headers are there */
  uint64_t body_bytes;
  int64_t ends_ns; /* of the recording, monotonic */
  enum client_result result;
  struct job job;
};

/* All connections there may be. Used by one thread alone. */
struct clients {
  struct client *slots;
  size_t limit;
  size_t used;
};

/* Returns 0, or -1 when memory ran out. */
int clients_init(struct clients *clients, size_t limit);
void clients_fini(struct clients *clients);

/* A slot in the phase CLIENT_READING, or NULL when all are used. */
struct client *clients_take(struct clients *clients, struct MHD_Connection *connection, int socket,
                            int64_t now_ns);
void clients_release(struct clients *clients, struct client *client);

/* How many wait for a profile. */
size_t clients_count_suspended(const struct clients *clients);

/*
 * The one that has been sending or taking for longest: it is the one to close when there is
 * no room. NULL when every client waits for a profile or is closing.
 */
struct client *clients_slowest(const struct clients *clients);

bool client_is_suspended(const struct client *client);

/* Whether it is sending or taking, and not closing. */
bool client_is_timed(const struct client *client);

void client_enter(struct client *client, enum client_phase phase, int64_t now_ns);

/* Forgets the request, with a profile that was not sent, and waits for the next one. */
void client_forget_request(struct client *client, int64_t now_ns);

/* Shuts the connection down, so that libmicrohttpd closes it. */
void client_close(struct client *client);

#endif
