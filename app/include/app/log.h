#ifndef APP_LOG_H
#define APP_LOG_H

#include <pthread.h>
#include <stdbool.h>

/*
 * The lines that a program tells its user: "YYYY/MM/DD HH:MM:SS message" in local
 * time, each by one write(2). Any thread. A NULL log is silent.
 */
struct log {
  int fd;
  bool terminal;
  bool progress_shown; /* guarded by lock, as is the order of writes */
  pthread_mutex_t lock;
};

/* Lines go to `fd`, which is borrowed. */
void log_init(struct log *log, int fd);
void log_fini(struct log *log);

/* Writes one line, cut at 2,000 bytes; control characters become '?'. */
__attribute__((format(printf, 2, 3))) void log_line(struct log *log, const char *format, ...);

/* Whether log_progress() shows anything: on a terminal only. */
bool log_shows_progress(const struct log *log);

/* Shows a passing line, which the next line or progress replaces. */
__attribute__((format(printf, 2, 3))) void log_progress(struct log *log, const char *format, ...);

#endif
