/*
 * Design notes
 *
 * One mutex guards a doubly linked ring of waiting jobs, so that a job whose
 * call was cancelled leaves the middle of the queue at once. A job that is in no
 * ring has next == NULL; that is how withdraw tells a waiting job from a running
 * one. Matches take microseconds to hundreds of milliseconds, so the lock is
 * never what limits them; version 8, whose counts are shorter, does not pass
 * here. Nothing else is locked while the mutex is held.
 */
#include "workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct workers {
  void (*run)(struct job *job);
  pthread_mutex_t mutex;
  pthread_cond_t changed; /* a job came, or stopping became true */
  struct job waiting;     /* the ring's head */
  bool stopping;
  int thread_count;
  pthread_t threads[];
};

static void unlink_job(struct job *job) {
  job->previous->next = job->next;
  job->next->previous = job->previous;
  job->next = NULL;
  job->previous = NULL;
}

/* The oldest waiting job, or NULL when the pool stops and none waits. */
static struct job *next_job(struct workers *workers) {
  pthread_mutex_lock(&workers->mutex);
  while (workers->waiting.next == &workers->waiting && !workers->stopping)
    pthread_cond_wait(&workers->changed, &workers->mutex);
  struct job *job = workers->waiting.next;
  if (job == &workers->waiting)
    job = NULL;
  else
    unlink_job(job);
  pthread_mutex_unlock(&workers->mutex);
  return job;
}

static void *work(void *argument) {
  struct workers *workers = argument;
  for (struct job *job = next_job(workers); job != NULL; job = next_job(workers))
    workers->run(job);
  return NULL;
}

static int start_thread(struct workers *workers) {
  pthread_t *thread = &workers->threads[workers->thread_count];
  int failure = pthread_create(thread, NULL, work, workers);
  if (failure != 0)
    return failure;
  char name[32];
  snprintf(name, sizeof(name), "worker-%d", workers->thread_count);
  name[15] = '\0'; /* the kernel takes no longer name */
  pthread_setname_np(*thread, name);
  workers->thread_count++;
  return 0;
}

int workers_start(int threads, void (*run)(struct job *job), struct workers **out,
                  struct rpc_error *error) {
  struct workers *workers = calloc(1, sizeof(*workers) + (size_t)threads * sizeof(pthread_t));
  if (workers == NULL) {
    rpc_error_set(error, "out of memory for %d worker threads", threads);
    return -1;
  }
  workers->run = run;
  workers->waiting.next = &workers->waiting;
  workers->waiting.previous = &workers->waiting;
  pthread_mutex_init(&workers->mutex, NULL);
  pthread_cond_init(&workers->changed, NULL);
  while (workers->thread_count < threads) {
    int failure = start_thread(workers);
    if (failure != 0) {
      rpc_error_set(error, "cannot start worker thread %d of %d: %s; ask for fewer threads",
                    workers->thread_count + 1, threads, strerror(failure));
      workers_stop(workers);
      return -1;
    }
  }
  *out = workers;
  return 0;
}

void workers_stop(struct workers *workers) {
  if (workers == NULL)
    return;
  pthread_mutex_lock(&workers->mutex);
  workers->stopping = true;
  pthread_cond_broadcast(&workers->changed);
  pthread_mutex_unlock(&workers->mutex);
  for (int i = 0; i < workers->thread_count; i++)
    pthread_join(workers->threads[i], NULL);
  pthread_cond_destroy(&workers->changed);
  pthread_mutex_destroy(&workers->mutex);
  free(workers);
}

void workers_submit(struct workers *workers, struct job *job) {
  pthread_mutex_lock(&workers->mutex);
  job->next = &workers->waiting;
  job->previous = workers->waiting.previous;
  job->previous->next = job;
  workers->waiting.previous = job;
  pthread_cond_signal(&workers->changed);
  pthread_mutex_unlock(&workers->mutex);
}

bool workers_withdraw(struct workers *workers, struct job *job) {
  pthread_mutex_lock(&workers->mutex);
  bool waiting = job->next != NULL;
  if (waiting)
    unlink_job(job);
  pthread_mutex_unlock(&workers->mutex);
  return waiting;
}
