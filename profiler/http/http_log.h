#ifndef HTTP_HTTP_LOG_H
#define HTTP_HTTP_LOG_H

#include <stdarg.h>
#include <stdint.h>

#include "folio/folio.h"

/* What goes to the program's log. Clients can cause lines, so there is a limit a minute. */
struct http_log {
  folio_log *write; /* NULL drops the lines */
  void *context;
  int64_t window_ns; /* when the current minute began, monotonic */
  uint32_t lines;    /* in it */
};

/* Writes one line, without control characters. Not by two threads at once. */
__attribute__((format(printf, 2, 0))) void http_log_write(struct http_log *log, const char *format,
                                                          va_list arguments);

__attribute__((format(printf, 2, 3))) void http_log_line(struct http_log *log, const char *format,
                                                         ...);

#endif
