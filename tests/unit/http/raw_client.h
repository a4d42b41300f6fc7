#ifndef RAW_CLIENT_H
#define RAW_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A client that sends the bytes that it is given. Every wait is bounded and fails the test. */

/* One answer, read to its end. */
struct reply {
  int status; /* 0: the connection ended before an answer was there */
  char head[4096];
  size_t length;
  char body[8192]; /* its beginning, as a string */
};

/* Connects to 127.0.0.1. */
int raw_connect(uint16_t port);

void raw_send(int connection, const char *bytes);

/* Sends a request with the usual Host header and no other. */
void raw_request(int connection, const char *method, const char *uri);

/* Reads one answer; that of HEAD has no body. */
void raw_read(int connection, bool head, struct reply *out);

/* Waits until the server has closed the connection, and drops what comes before. */
void raw_wait_closed(int connection);

/* A GET on a connection of its own. */
void raw_get(uint16_t port, const char *uri, struct reply *out);

/* The value of a header, or NULL. Until the next call. */
const char *reply_header(const struct reply *reply, const char *name);

#endif
