/*
 * Design notes
 *
 * A thread of its own runs the windows: it starts a session of each type, waits for
 * the window's end or for `stopping`, stops the sessions and stores their profiles.
 * `mutex` guards `stopping` alone. What goes wrong with one profile is logged and
 * the windows go on: the profiler never stops its host.
 */
#include "app/profiling.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/duration.h"
#include "app/profile_folder.h"
#include "folio/folio.h"
#include "http/folio_http.h"

#define WINDOW_SECONDS 10
#define HTTP_DEFAULT "127.0.0.1:7789"

/* A type of profile that a program can make of itself. */
struct profile_type {
  enum folio_type type;
  const char *name;  /* in file names */
  const char *title; /* in the log */
};

static const struct profile_type types[] = {
    {FOLIO_CPU, "cpu", "CPU"},
    {FOLIO_HEAP, "heap", "live heap"},
    {FOLIO_ALLOCS, "heap_alloc", "allocated heap"},
};

enum {
  TYPE_COUNT = sizeof(types) / sizeof(types[0])
};

struct profiling {
  const struct flags *flags;
  struct log *log;
  struct profile_folder folder;
  struct folio_http *http;
  bool wanted[TYPE_COUNT];
  struct folio_session *sessions[TYPE_COUNT];
  unsigned stored;
  pthread_t thread;
  bool thread_started;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool stopping;
};

static void log_from_folio(void *context, const char *line) {
  log_line(context, "%s", line);
}

static void begin_window(struct profiling *profiling) {
  struct folio_error error;
  log_line(profiling->log, "creating a new profile via profiler service");
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    if (profiling->wanted[i] &&
        folio_session_start(types[i].type, 0, &profiling->sessions[i], &error) != FOLIO_OK)
      log_line(profiling->log, "no %s profile: %s", types[i].title, error.message);
  }
}

static void store(struct profiling *profiling, const struct profile_type *type,
                  const struct folio_profile *profile) {
  const struct flags *flags = profiling->flags;
  struct folio_error error;
  char path[2048];
  char lasted[DURATION_TEXT_BYTES];
  if (profile_folder_name(&profiling->folder, flags->service, flags->version->number, type->name,
                          folio_profile_time_ns(profile), path, sizeof(path)) != 0) {
    log_line(profiling->log, "the %s profile is lost: its path is too long", type->title);
    return;
  }
  if (folio_profile_write(profile, path, &error) != FOLIO_OK) {
    log_line(profiling->log, "the %s profile is lost: %s", type->title, error.message);
    return;
  }
  profiling->stored++;
  duration_format(duration_round(folio_profile_duration_ns(profile), 10000000), lasted);
  log_line(profiling->log, "stored the %s profile of %s: %s", type->title, lasted, path);
}

static void end_window(struct profiling *profiling) {
  struct folio_profile *profiles[TYPE_COUNT] = {0};
  struct folio_error error;
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    if (profiling->sessions[i] != NULL)
      folio_session_end(profiling->sessions[i]);
  }
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    if (profiling->sessions[i] != NULL &&
        folio_session_stop(profiling->sessions[i], &profiles[i], &error) != FOLIO_OK)
      log_line(profiling->log, "the %s profile is lost: %s", types[i].title, error.message);
    profiling->sessions[i] = NULL;
  }
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    if (profiles[i] != NULL)
      store(profiling, &types[i], profiles[i]);
    folio_profile_free(profiles[i]);
  }
}

/* Whether the program goes on after the window. */
static bool wait_window(struct profiling *profiling) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += WINDOW_SECONDS;
  pthread_mutex_lock(&profiling->mutex);
  int outcome = 0;
  while (!profiling->stopping && outcome == 0)
    outcome =
        pthread_cond_clockwait(&profiling->changed, &profiling->mutex, CLOCK_MONOTONIC, &until);
  bool goes_on = !profiling->stopping;
  pthread_mutex_unlock(&profiling->mutex);
  return goes_on;
}

static void *run_windows(void *argument) {
  struct profiling *profiling = argument;
  bool goes_on;
  do {
    goes_on = wait_window(profiling);
    end_window(profiling);
    if (goes_on)
      begin_window(profiling);
  } while (goes_on);
  return NULL;
}

/* The default address may be another run's: then this one goes without. */
static int serve(struct profiling *profiling, struct app_error *error) {
  const char *address = profiling->flags->http;
  struct folio_error reason;
  if (*address == '\0')
    return 0;
  const struct folio_http_options options = {
      .size = sizeof(options),
      .address = address,
      .heap_switch = "the flag -heap",
      .log = log_from_folio,
      .log_context = profiling->log,
  };
  if (folio_http_start(&options, &profiling->http, &reason) == FOLIO_OK) {
    const char *colon = strrchr(address, ':');
    int host_bytes = colon != NULL ? (int)(colon - address) : (int)strlen(address);
    log_line(profiling->log, "profiles are served on http://%.*s:%u/debug/pprof/", host_bytes,
             address, (unsigned)folio_http_port(profiling->http));
    return 0;
  }
  if (strcmp(address, HTTP_DEFAULT) != 0) {
    app_error_set(error, "-http: %s", reason.message);
    return -1;
  }
  log_line(profiling->log, "profiles are not served: %s", reason.message);
  return 0;
}

static int start_folio(struct profiling *profiling, struct app_error *error) {
  const struct flags *flags = profiling->flags;
  const struct folio_options options = {
      .size = sizeof(options),
      .heap = flags->heap || flags->heap_alloc,
      .log = log_from_folio,
      .log_context = profiling->log,
  };
  struct folio_error reason;
  if (folio_start(&options, &reason) != FOLIO_OK) {
    app_error_set(error, "the profiler cannot start: %s", reason.message);
    return -1;
  }
  log_line(profiling->log, "folio %s", folio_version());
  log_line(profiling->log, "profiler has started");
  return 0;
}

static int start_windows(struct profiling *profiling, struct app_error *error) {
  begin_window(profiling);
  int failure = pthread_create(&profiling->thread, NULL, run_windows, profiling);
  if (failure != 0) {
    app_error_set(error, "the profiler cannot start its thread: %s", strerror(failure));
    return -1;
  }
  profiling->thread_started = true;
  pthread_setname_np(profiling->thread, "profiles");
  return 0;
}

int profiling_start(const struct flags *flags, struct log *log, struct profiling **out,
                    struct app_error *error) {
  struct profiling *profiling = calloc(1, sizeof(*profiling));
  if (profiling == NULL) {
    app_error_set(error, "out of memory");
    return -1;
  }
  profiling->flags = flags;
  profiling->log = log;
  profiling->wanted[0] = true;
  profiling->wanted[1] = flags->heap;
  profiling->wanted[2] = flags->heap_alloc;
  pthread_mutex_init(&profiling->mutex, NULL);
  pthread_cond_init(&profiling->changed, NULL);
  if (profile_folder_open(flags->store, &profiling->folder, error) != 0 ||
      start_folio(profiling, error) != 0 || serve(profiling, error) != 0 ||
      start_windows(profiling, error) != 0) {
    profiling_stop(profiling);
    return -1;
  }
  *out = profiling;
  return 0;
}

void profiling_stop(struct profiling *profiling) {
  if (profiling == NULL)
    return;
  if (profiling->thread_started) {
    pthread_mutex_lock(&profiling->mutex);
    profiling->stopping = true;
    pthread_cond_signal(&profiling->changed);
    pthread_mutex_unlock(&profiling->mutex);
    pthread_join(profiling->thread, NULL);
    log_line(profiling->log, "%u profiles stored in %s; folio top FILE shows one",
             profiling->stored, profiling->folder.path);
  }
  folio_http_stop(profiling->http);
  folio_stop();
  pthread_cond_destroy(&profiling->changed);
  pthread_mutex_destroy(&profiling->mutex);
  free(profiling);
}
