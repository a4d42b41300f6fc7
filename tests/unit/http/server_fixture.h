#ifndef SERVER_FIXTURE_H
#define SERVER_FIXTURE_H

#include <stdint.h>

#include "http/folio_http.h"

/* A server over the fake Folio. */
struct fixture {
  struct folio_http *http;
  uint16_t port;
};

/* Starts one on a port of its own with these options (a copy of which is completed). */
struct fixture fixture_start(struct folio_http_options options);

/* Stops it, and fails when a session or a profile was not given back. */
void fixture_stop(struct fixture *fixture);

/* How many log lines it wrote since the start, and the last one. */
int fixture_log_lines(void);
const char *fixture_log_last(void);

/* The CPU time of this process. */
int64_t fixture_cpu_ns(void);
int64_t fixture_now_ns(void);

#endif
