#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

static enum folio_status refuse(const char *text, struct folio_error *error) {
  if (error != NULL)
    snprintf(error->message, sizeof(error->message),
             "address %.300s: a host and a port are needed, such as 127.0.0.1:7789 or [::1]:0",
             text);
  return FOLIO_INVALID;
}

/* A decimal number up to 65,535 without a sign. */
static bool is_port(const char *text) {
  size_t length = strlen(text);
  return length > 0 && length <= 5 && strspn(text, "0123456789") == length &&
         strtol(text, NULL, 10) <= UINT16_MAX;
}

enum folio_status address_parse(const char *text, struct address *out, struct folio_error *error) {
  const char *colon = strrchr(text, ':');
  if (colon == NULL || !is_port(colon + 1))
    return refuse(text, error);
  const char *host = text;
  size_t length = (size_t)(colon - text);
  bool bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';
  if (bracketed) {
    host++;
    length -= 2;
  }
  bool has_colon = memchr(host, ':', length) != NULL;
  if (length == 0 || length >= sizeof(out->host) || has_colon != bracketed ||
      memchr(host, '[', length) != NULL || memchr(host, ']', length) != NULL)
    return refuse(text, error);
  memcpy(out->host, host, length);
  out->host[length] = '\0';
  snprintf(out->port, sizeof(out->port), "%s", colon + 1);
  return FOLIO_OK;
}

/* Returns a listening socket, or -1 with errno set. */
static int listen_on(const struct addrinfo *info) {
  int listener = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0)
    return -1;
  /* Connections of a server that has just ended do not keep its port. */
  int on = 1;
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      bind(listener, info->ai_addr, info->ai_addrlen) == 0 && listen(listener, BACKLOG) == 0)
    return listener;
  int failure = errno;
  close(listener);
  errno = failure;
  return -1;
}

static int bound_port(int listener, uint16_t *out) {
  union {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
  } name = {0};
  socklen_t size = sizeof(name);
  if (getsockname(listener, &name.any, &size) != 0)
    return -1;
  *out = ntohs(name.any.sa_family == AF_INET6 ? name.ipv6.sin6_port : name.ipv4.sin_port);
  return 0;
}

static enum folio_status cannot(const struct address *address, const char *reason,
                                const char *advice, struct folio_error *error) {
  bool is_ipv6 = strchr(address->host, ':') != NULL;
  if (error != NULL)
    snprintf(error->message, sizeof(error->message), "cannot listen on %s%s%s:%s: %s; %s",
             is_ipv6 ? "[" : "", address->host, is_ipv6 ? "]" : "", address->port, reason, advice);
  return FOLIO_SYSTEM;
}

enum folio_status address_listen(const struct address *address, int *out_socket, uint16_t *out_port,
                                 struct folio_error *error) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                 .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  int outcome = getaddrinfo(address->host, address->port, &hints, &found);
  if (outcome != 0)
    return cannot(address, outcome == EAI_SYSTEM ? strerror(errno) : gai_strerror(outcome),
                  "give an address of this machine", error);
  int listener = -1;
  for (struct addrinfo *info = found; info != NULL && listener < 0; info = info->ai_next)
    listener = listen_on(info);
  int failure = errno;
  freeaddrinfo(found);
  if (listener >= 0 && bound_port(listener, out_port) == 0) {
    *out_socket = listener;
    return FOLIO_OK;
  }
  if (listener >= 0) {
    failure = errno;
    close(listener);
  }
  return cannot(address, strerror(failure),
                failure == EADDRINUSE ? "stop what uses it or choose another port (0 picks one)"
                                      : "choose another address or port",
                error);
}
