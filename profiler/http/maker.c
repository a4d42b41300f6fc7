/*
 * Design notes
 *
 * Jobs pass through two queues, `given` and `done`, both guarded by `mutex`; the job that is
 * being made is in neither. The thread alone calls Folio for a job, with no lock held. The
 * eventfd is written after a job is in `done`, so whoever reads it finds the job.
 */
#include "maker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "quiet_thread.h"

struct queue {
  struct job *first;
  struct job **last; /* where the next one is linked */
};

struct maker {
  const struct descriptor *wake;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed; /* a job was given, or closed became true */
  bool closed;
  struct queue given;
  struct queue done;
};

static void queue_init(struct queue *queue) {
  queue->first = NULL;
  queue->last = &queue->first;
}

static void queue_put(struct queue *queue, struct job *job) {
  job->next = NULL;
  *queue->last = job;
  queue->last = &job->next;
}

static struct job *queue_take(struct queue *queue) {
  struct job *job = queue->first;
  if (job == NULL)
    return NULL;
  queue->first = job->next;
  if (queue->first == NULL)
    queue->last = &queue->first;
  return job;
}

static void make(struct job *job) {
  if (job->session != NULL)
    job->status = folio_session_stop(job->session, &job->profile, &job->error);
  else
    job->status = folio_snapshot(job->type, &job->profile, &job->error);
  job->session = NULL;
}

static void drop(struct job *job) {
  if (job->session != NULL)
    folio_session_stop(job->session, NULL, NULL);
  job->session = NULL;
  job->dropped = true;
}

static void put_done(struct maker *maker, struct job *job) {
  pthread_mutex_lock(&maker->mutex);
  queue_put(&maker->done, job);
  pthread_mutex_unlock(&maker->mutex);
  descriptor_wake(maker->wake);
}

/* The oldest job that was given, or NULL when the maker is closed. */
static struct job *wait_given(struct maker *maker) {
  pthread_mutex_lock(&maker->mutex);
  while (maker->given.first == NULL && !maker->closed)
    pthread_cond_wait(&maker->changed, &maker->mutex);
  struct job *job = maker->closed ? NULL : queue_take(&maker->given);
  pthread_mutex_unlock(&maker->mutex);
  return job;
}

static void *run(void *argument) {
  struct maker *maker = argument;
  for (struct job *job = wait_given(maker); job != NULL; job = wait_given(maker)) {
    make(job);
    put_done(maker, job);
  }
  return NULL;
}

int maker_start(const struct descriptor *wake, struct maker **out) {
  struct maker *maker = calloc(1, sizeof(*maker));
  if (maker == NULL)
    return ENOMEM;
  maker->wake = wake;
  pthread_mutex_init(&maker->mutex, NULL);
  pthread_cond_init(&maker->changed, NULL);
  queue_init(&maker->given);
  queue_init(&maker->done);
  int failure = quiet_thread_start("folio-http-make", run, maker, &maker->thread);
  if (failure != 0) {
    maker_destroy(maker);
    return failure;
  }
  *out = maker;
  return 0;
}

void maker_close(struct maker *maker) {
  pthread_mutex_lock(&maker->mutex);
  maker->closed = true;
  struct queue dropped = maker->given;
  queue_init(&maker->given);
  pthread_cond_signal(&maker->changed);
  pthread_mutex_unlock(&maker->mutex);
  while (dropped.first != NULL) {
    struct job *job = dropped.first;
    dropped.first = job->next;
    drop(job);
    put_done(maker, job);
  }
}

void maker_stop(struct maker *maker) {
  maker_close(maker);
  pthread_join(maker->thread, NULL);
}

void maker_destroy(struct maker *maker) {
  if (maker == NULL)
    return;
  pthread_cond_destroy(&maker->changed);
  pthread_mutex_destroy(&maker->mutex);
  free(maker);
}

void maker_give(struct maker *maker, struct job *job) {
  job->dropped = false;
  job->profile = NULL;
  pthread_mutex_lock(&maker->mutex);
  queue_put(&maker->given, job);
  pthread_cond_signal(&maker->changed);
  pthread_mutex_unlock(&maker->mutex);
}

struct job *maker_take(struct maker *maker) {
  pthread_mutex_lock(&maker->mutex);
  struct job *job = queue_take(&maker->done);
  pthread_mutex_unlock(&maker->mutex);
  return job;
}
