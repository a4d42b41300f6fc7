#include "raw_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_SECONDS 60

int raw_connect(uint16_t port) {
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(connection >= 0);
  const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(connection, (const struct sockaddr *)&address, sizeof(address)) != 0)
    fail_msg("cannot connect to port %u: %s", port, strerror(errno));
  return connection;
}

void raw_send(int connection, const char *bytes) {
  size_t size = strlen(bytes);
  if (send(connection, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
    fail_msg("cannot send %zu bytes: %s", size, strerror(errno));
}

void raw_request(int connection, const char *method, const char *uri) {
  char request[4096];
  snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n", method, uri);
  raw_send(connection, request);
}

/* Returns how many bytes came; 0 at the end, however it came about. */
static size_t receive(int connection, void *room, size_t size) {
  ssize_t got = recv(connection, room, size, 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    fail_msg("nothing came from the server");
  return got > 0 ? (size_t)got : 0;
}

/* The head comes byte by byte, so that what follows stays in the socket. */
static bool read_head(int connection, struct reply *reply) {
  size_t used = 0;
  while (used < sizeof(reply->head) - 1) {
    if (receive(connection, reply->head + used, 1) == 0)
      return false;
    reply->head[++used] = '\0';
    if (used >= 4 && memcmp(reply->head + used - 4, "\r\n\r\n", 4) == 0)
      return true;
  }
  fail_msg("the answer's head is too long: %s", reply->head);
  return false;
}

void raw_read(int connection, bool head, struct reply *out) {
  memset(out, 0, sizeof(*out));
  if (!read_head(connection, out))
    return;
  if (strncmp(out->head, "HTTP/1.", 7) != 0)
    fail_msg("no status line: %s", out->head);
  out->status = (int)strtol(out->head + 9, NULL, 10);
  const char *length = reply_header(out, "Content-Length");
  size_t expected = length != NULL && !head ? (size_t)strtoul(length, NULL, 10) : 0;
  while (out->length < expected) {
    char piece[65536];
    size_t wanted = expected - out->length < sizeof(piece) ? expected - out->length : sizeof(piece);
    size_t got = receive(connection, piece, wanted);
    if (got == 0)
      fail_msg("the body ended after %zu of %zu bytes", out->length, expected);
    size_t room = sizeof(out->body) - 1;
    if (out->length < room)
      memcpy(out->body + out->length, piece, got < room - out->length ? got : room - out->length);
    out->length += got;
  }
}

void raw_wait_closed(int connection) {
  char dropped[4096];
  while (receive(connection, dropped, sizeof(dropped)) > 0)
    continue;
}

void raw_get(uint16_t port, const char *uri, struct reply *out) {
  int connection = raw_connect(port);
  raw_request(connection, "GET", uri);
  raw_read(connection, false, out);
  close(connection);
}

const char *reply_header(const struct reply *reply, const char *name) {
  static char value[512];
  size_t length = strlen(name);
  for (const char *line = strstr(reply->head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, length) != 0 || strncmp(line + length, ": ", 2) != 0)
      continue;
    line += length + 2;
    snprintf(value, sizeof(value), "%.*s", (int)strcspn(line, "\r"), line);
    return value;
  }
  return NULL;
}
