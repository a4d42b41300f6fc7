#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <microhttpd.h>

#include "address.h"
#include "clients.h"
#include "descriptor.h"
#include "http/folio_http.h"
#include "http_log.h"
#include "maker.h"

/* After the start only the serving thread uses it, but for what says otherwise. */
struct folio_http {
  struct address address; /* to listen on */
  uint16_t port;          /* bound; any thread */
  uint32_t max_seconds;
  int64_t client_timeout_ns;
  char heap_switch[128];
  struct http_log log;
  pid_t owner; /* the process that started it: not a child of a fork */
  pthread_t thread;
  atomic_bool stopping; /* set by the thread that stops; read with acquire */
  struct descriptor listener;
  struct descriptor wake;   /* eventfd: a job is done, or stopping is set; any thread */
  struct descriptor events; /* the daemon's: readable when it has something to do */
  int64_t accept_again_ns;  /* when descriptors had run out: monotonic */
  struct MHD_Daemon *daemon;
  struct clients clients;
  struct maker *maker;
  struct pollfd *polled; /* room for the descriptors above and one a suspended client */
};

/* The monotonic clock. */
int64_t server_now_ns(void);

#endif
