#include "http_log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LINES_A_MINUTE 20
#define MINUTE_NS INT64_C(60000000000)

/* Whether there is room in the current minute; tells once when there is none left. */
static bool admit(struct http_log *log) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  if (log->lines == 0 || now_ns - log->window_ns >= MINUTE_NS) {
    log->window_ns = now_ns;
    log->lines = 0;
  }
  if (log->lines < LINES_A_MINUTE) {
    log->lines++;
    return true;
  }
  if (log->lines++ == LINES_A_MINUTE)
    log->write(log->context, "http: more lines in this minute are dropped");
  return false;
}

void http_log_write(struct http_log *log, const char *format, va_list arguments) {
  if (log->write == NULL || !admit(log))
    return;
  char line[512] = "http: ";
  size_t prefix = strlen(line);
  vsnprintf(line + prefix, sizeof(line) - prefix, format, arguments);
  size_t length = strlen(line);
  while (length > 0 && line[length - 1] == '\n')
    line[--length] = '\0';
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)line[i] < ' ' || line[i] == '\x7f')
      line[i] = '?';
  }
  log->write(log->context, line);
}

void http_log_line(struct http_log *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  http_log_write(log, format, arguments);
  va_end(arguments);
}
