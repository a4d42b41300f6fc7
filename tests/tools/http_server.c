/*
 * A program with a profile server, for tests in other languages: two threads use some CPU
 * time, one allocates. It logs like our programs and ends at SIGTERM.
 *
 *   http_server [-address HOST:PORT] [-no_heap] [-timeout_ms N]
 */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "folio/folio.h"
#include "http/folio_http.h"

#define OBJECTS_HELD 64

static atomic_bool ending;

static void log_line(void *context, const char *line) {
  (void)context;
  time_t now = time(NULL);
  struct tm parts;
  char stamp[32];
  strftime(stamp, sizeof(stamp), "%Y/%m/%d %H:%M:%S", localtime_r(&now, &parts));
  fprintf(stderr, "%s %s\n", stamp, line);
}

static void rest(void) {
  const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

__attribute__((noinline)) static uint64_t burn_processor_time(uint64_t state) {
  for (int i = 0; i < 5000000; i++)
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return state;
}

__attribute__((noinline)) static void *allocate_object(size_t size) {
  char *object = malloc(size);
  if (object != NULL)
    memset(object, 1, size);
  return object;
}

static void *burn(void *argument) {
  uint64_t state = 1;
  while (!atomic_load(&ending)) {
    state = burn_processor_time(state);
    rest();
  }
  *(uint64_t *)argument = state;
  return NULL;
}

/* Holds the last objects, so that there is a live heap. */
static void *allocate(void *argument) {
  (void)argument;
  void *held[OBJECTS_HELD] = {NULL};
  for (size_t i = 0; !atomic_load(&ending); i++) {
    free(held[i % OBJECTS_HELD]);
    held[i % OBJECTS_HELD] = allocate_object(100000);
    if (i % 32 == 0)
      rest();
  }
  for (size_t i = 0; i < OBJECTS_HELD; i++)
    free(held[i]);
  return NULL;
}

struct flags {
  const char *address;
  bool heap;
  uint32_t timeout_ms;
};

static int read_flags(int count, char **arguments, struct flags *out) {
  static const struct option known[] = {
      {"address", required_argument, NULL, 'a'},
      {"no_heap", no_argument, NULL, 'n'},
      {"timeout_ms", required_argument, NULL, 't'},
      {NULL, 0, NULL, 0},
  };
  *out = (struct flags){.address = "127.0.0.1:0", .heap = true};
  int flag;
  while ((flag = getopt_long_only(count, arguments, "", known, NULL)) != -1) {
    if (flag == 'a')
      out->address = optarg;
    else if (flag == 'n')
      out->heap = false;
    else if (flag == 't')
      out->timeout_ms = (uint32_t)strtoul(optarg, NULL, 10);
    else
      return -1;
  }
  return 0;
}

/* A sanitizer's allocator leaves no room for heap profiles: then there are none. */
static enum folio_status start_folio(bool heap, struct folio_error *error) {
  struct folio_options options = {.size = sizeof(options), .heap = heap, .log = log_line};
  enum folio_status status = folio_start(&options, error);
  if (status == FOLIO_UNSUPPORTED && options.heap) {
    options.heap = false;
    status = folio_start(&options, error);
  }
  if (status == FOLIO_OK)
    log_line(NULL, options.heap ? "heap sampling is on" : "heap sampling is off");
  return status;
}

static enum folio_status start(const struct flags *flags, struct folio_http **out,
                               struct folio_error *error) {
  enum folio_status status = start_folio(flags->heap, error);
  if (status != FOLIO_OK)
    return status;
  const struct folio_http_options options = {
      .size = sizeof(options),
      .address = flags->address,
      .client_timeout_ms = flags->timeout_ms,
      .heap_switch = "leaving out -no_heap",
      .log = log_line,
  };
  return folio_http_start(&options, out, error);
}

static void start_work(pthread_t *threads, uint64_t *results) {
  pthread_create(&threads[0], NULL, burn, &results[0]);
  pthread_create(&threads[1], NULL, burn, &results[1]);
  pthread_create(&threads[2], NULL, allocate, NULL);
}

static void end_work(const pthread_t *threads) {
  atomic_store(&ending, true);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
  struct flags flags;
  struct folio_http *http;
  struct folio_error error;
  if (read_flags(count, arguments, &flags) != 0)
    return 2;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  if (start(&flags, &http, &error) != FOLIO_OK) {
    log_line(NULL, error.message);
    return 1;
  }
  pthread_t threads[3];
  uint64_t results[2];
  start_work(threads, results);
  char line[64];
  snprintf(line, sizeof(line), "http_server is listening on 127.0.0.1:%u", folio_http_port(http));
  log_line(NULL, line);
  int number;
  sigwait(&signals, &number);
  folio_http_stop(http);
  end_work(threads);
  folio_stop();
  return 0;
}
