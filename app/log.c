#include "app/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/text.h"

/* Returns the cursor to the first column and clears the line. */
#define ERASE_LINE "\r\033[K"

struct line {
  char text[2048];
  size_t length;
};

void log_init(struct log *log, int fd) {
  *log = (struct log){.fd = fd, .terminal = isatty(fd) == 1};
  pthread_mutex_init(&log->lock, NULL);
}

void log_fini(struct log *log) {
  pthread_mutex_destroy(&log->lock);
}

static void line_append_time(struct line *line) {
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  line->length += strftime(line->text + line->length, sizeof(line->text) - line->length,
                           "%Y/%m/%d %H:%M:%S ", &local);
}

/* Appends the message, cut so that a newline still fits behind it. */
__attribute__((format(printf, 2, 0))) static void
line_append_message(struct line *line, const char *format, va_list arguments) {
  char *message = line->text + line->length;
  vsnprintf(message, sizeof(line->text) - 1 - line->length, format, arguments);
  text_make_one_line(message);
  line->length += strlen(message);
}

/* A line that cannot be written is lost: there is nowhere left to say so. */
static void line_write(const struct line *line, int fd) {
  ssize_t written = write(fd, line->text, line->length);
  (void)written;
}

static void line_start(struct line *line, bool erase) {
  line->length = erase ? sizeof(ERASE_LINE) - 1 : 0;
  memcpy(line->text, ERASE_LINE, line->length);
}

void log_line(struct log *log, const char *format, ...) {
  if (log == NULL)
    return;
  struct line line;
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&log->lock);
  line_start(&line, log->progress_shown);
  line_append_time(&line);
  line_append_message(&line, format, arguments);
  line.text[line.length++] = '\n';
  line_write(&line, log->fd);
  log->progress_shown = false;
  pthread_mutex_unlock(&log->lock);
  va_end(arguments);
}

bool log_shows_progress(const struct log *log) {
  return log != NULL && log->terminal;
}

void log_progress(struct log *log, const char *format, ...) {
  if (!log_shows_progress(log))
    return;
  struct line line;
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&log->lock);
  line_start(&line, true);
  line_append_message(&line, format, arguments);
  line_write(&line, log->fd);
  log->progress_shown = true;
  pthread_mutex_unlock(&log->lock);
  va_end(arguments);
}
