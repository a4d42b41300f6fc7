#ifndef HTTP_FOLIO_HTTP_H
#define HTTP_FOLIO_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "folio/folio.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Folio's profiles over HTTP, under the paths and with the parameters of Go's
 * net/http/pprof (https://pkg.go.dev/net/http/pprof), so that `go tool pprof
 * http://ADDRESS/debug/pprof/profile` and scrapers take them as they are:
 *
 *   /debug/pprof/                   an index page
 *   /debug/pprof/profile?seconds=N  CPU time of the next N seconds; 30 if not given
 *   /debug/pprof/heap               the live heap, with what was allocated since the start
 *   /debug/pprof/allocs             the same samples, read as allocation
 *   /debug/pprof/heap?seconds=N     with what the next N seconds allocate; allocs alike
 *
 * Unlike with Go, several readers are served at once. A client that hangs up ends its
 * recording. Only requests whose Host header is localhost, 127.0.0.1, [::1] or the address
 * listened on are answered, so that a web page cannot reach the server through a name of its
 * own; a server on 0.0.0.0 or [::] takes any IP address, and no name. There is no
 * other protection: who can connect can read the profiles.
 *
 * Two threads serve all clients; no signal is handled on them.
 */
struct folio_http;

/* Zero in any field but `size` means the default. */
struct folio_http_options {
  size_t size;                /* sizeof(struct folio_http_options) */
  const char *address;        /* "127.0.0.1:7789", the default; "[::1]:0" picks a port */
  uint32_t max_connections;   /* 32; from 4 to 1,024. Half of them may wait for profiles */
  uint32_t max_seconds;       /* the longest recording that may be asked for; 3,600 */
  uint32_t client_timeout_ms; /* for a client to send a request, and to take an answer; 30,000 */
  const char *heap_switch;    /* how users of this program switch heap sampling on, such as
                                 "the flag -heap"; "the option heap of folio_start()" */
  folio_log *log;             /* takes log lines, on any of the threads; NULL drops them */
  void *log_context;
};

/*
 * Listens and serves until folio_http_stop(). Folio need not be started yet; until it
 * is, profiles are answered with an error. `options` may be NULL; what it points to is
 * copied. A port in use is an error whose message names the address and the reason.
 */
enum folio_status folio_http_start(const struct folio_http_options *options,
                                   struct folio_http **out, struct folio_error *error);

/* The port listened on. */
uint16_t folio_http_port(const struct folio_http *http);

/*
 * Ends recordings early, answers their clients with 503, closes every connection, joins the
 * threads and frees the server. It takes as long as the profile that is just being made,
 * and half a second more when clients do not take their answers. Call it before folio_stop().
 * In a child of fork() it only closes the child's copy of the listening socket. Takes NULL.
 */
void folio_http_stop(struct folio_http *http);

#ifdef __cplusplus
}
#endif

#endif
