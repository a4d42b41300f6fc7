#include "app/signals.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Design notes
 *
 * No handler runs: both signals are blocked in every thread, and one thread takes them with
 * sigwait(). It takes no lock and writes nothing, so that a second signal ends the program
 * even when another thread hangs in a write to a full pipe. `first` is stored before `requested`,
 * and both before the semaphore is posted. signals_stop() sets `stopping` and sends
 * the thread one of the two signals to wake it.
 */

struct signals {
  pthread_t thread;
  sem_t arrived;
  atomic_int first;
  atomic_bool requested;
  atomic_bool stopping;
};

static void set_of_signals(sigset_t *out) {
  sigemptyset(out);
  sigaddset(out, SIGINT);
  sigaddset(out, SIGTERM);
}

void signals_block(void) {
  sigset_t set;
  signal(SIGPIPE, SIG_IGN);
  set_of_signals(&set);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

const char *signals_name(int number) {
  return number == SIGINT ? "SIGINT" : "SIGTERM";
}

static void *take_signals(void *context) {
  struct signals *signals = context;
  sigset_t set;
  int number;

  set_of_signals(&set);
  while (sigwait(&set, &number) == 0 && !atomic_load(&signals->stopping)) {
    if (atomic_load(&signals->requested))
      _exit(128 + number);
    atomic_store(&signals->first, number);
    atomic_store(&signals->requested, true);
    sem_post(&signals->arrived);
  }
  return NULL;
}

int signals_start(struct signals **out, struct app_error *error) {
  struct signals *signals = calloc(1, sizeof(*signals));
  if (signals == NULL) {
    app_error_set(error, "out of memory");
    return -1;
  }
  sem_init(&signals->arrived, 0, 0);
  int failed = pthread_create(&signals->thread, NULL, take_signals, signals);
  if (failed != 0) {
    app_error_set(error, "cannot start the thread that takes signals: %s", strerror(failed));
    sem_destroy(&signals->arrived);
    free(signals);
    return -1;
  }
  *out = signals;
  return 0;
}

void signals_stop(struct signals *signals) {
  if (signals == NULL)
    return;
  atomic_store(&signals->stopping, true);
  pthread_kill(signals->thread, SIGTERM);
  pthread_join(signals->thread, NULL);
  sem_destroy(&signals->arrived);
  free(signals);
}

const atomic_bool *signals_requested(const struct signals *signals) {
  return &signals->requested;
}

int signals_first(const struct signals *signals) {
  return atomic_load(&signals->requested) ? atomic_load(&signals->first) : 0;
}

int signals_wait(struct signals *signals) {
  while (sem_wait(&signals->arrived) != 0) { /* EINTR */
  }
  return signals_first(signals);
}
