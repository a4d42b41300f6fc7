#include "clients.h"

#include <stdlib.h>
#include <sys/socket.h>

int clients_init(struct clients *clients, size_t limit) {
  clients->slots = calloc(limit, sizeof(*clients->slots));
  clients->limit = limit;
  clients->used = 0;
  return clients->slots != NULL ? 0 : -1;
}

void clients_fini(struct clients *clients) {
  free(clients->slots);
  clients->slots = NULL;
}

struct client *clients_take(struct clients *clients, struct MHD_Connection *connection, int socket,
                            int64_t now_ns) {
  for (size_t i = 0; i < clients->limit; i++) {
    struct client *client = &clients->slots[i];
    if (client->phase != CLIENT_FREE)
      continue;
    *client = (struct client){.connection = connection, .socket = socket};
    client_enter(client, CLIENT_READING, now_ns);
    clients->used++;
    return client;
  }
  return NULL;
}

void clients_release(struct clients *clients, struct client *client) {
  client->phase = CLIENT_FREE;
  clients->used--;
}

size_t clients_count_suspended(const struct clients *clients) {
  size_t count = 0;
  for (size_t i = 0; i < clients->limit; i++)
    count += client_is_suspended(&clients->slots[i]) ? 1 : 0;
  return count;
}

struct client *clients_slowest(const struct clients *clients) {
  struct client *slowest = NULL;
  for (size_t i = 0; i < clients->limit; i++) {
    struct client *client = &clients->slots[i];
    if (client_is_timed(client) && (slowest == NULL || client->since_ns < slowest->since_ns))
      slowest = client;
  }
  return slowest;
}

bool client_is_suspended(const struct client *client) {
  return client->phase == CLIENT_RECORDING || client->phase == CLIENT_MAKING;
}

bool client_is_timed(const struct client *client) {
  return (client->phase == CLIENT_READING || client->phase == CLIENT_ANSWERING) && !client->closing;
}

void client_enter(struct client *client, enum client_phase phase, int64_t now_ns) {
  client->phase = phase;
  client->since_ns = now_ns;
}

void client_forget_request(struct client *client, int64_t now_ns) {
  folio_profile_free(client->job.profile);
  client->job = (struct job){0};
  client->begun = false;
  client->body_bytes = 0;
  client->result = CLIENT_PENDING;
  client_enter(client, CLIENT_READING, now_ns);
}

void client_close(struct client *client) {
  client->closing = true;
  shutdown(client->socket, SHUT_RDWR);
}
