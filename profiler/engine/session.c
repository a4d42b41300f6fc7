/* Recordings, and what becomes of them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "export.h"
#include "profile.h"
#include "sampler/cpu.h"
#include "sampler/heap.h"
#include "sampler/labels.h"
#include "unwind/modules.h"

#define COMMENTS_MAX 6
#define COMMENT_BYTES 320

/* A recording that has ended, detached from the engine. */
struct recording {
  enum folio_type type;
  struct aggregate *samples;
  int64_t time_ns;
  int64_t duration_ns;
  const struct module *main_program;
  uint32_t module_count;
  size_t comment_count;
  char comments[COMMENTS_MAX][COMMENT_BYTES];
};

__attribute__((format(printf, 3, 4))) static enum folio_status
fail(struct folio_error *error, enum folio_status status, const char *format, ...) {
  if (error == NULL)
    return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof(error->message), format, arguments);
  va_end(arguments);
  return status;
}

static enum folio_status check_type(enum folio_type type, struct folio_error *error) {
  if (!engine.started)
    return fail(error, FOLIO_NOT_STARTED, "Folio is not started: call folio_start() first");
  if (type != FOLIO_CPU && type != FOLIO_HEAP && type != FOLIO_ALLOCS)
    return fail(error, FOLIO_INVALID, "there is no profile type %d", (int)type);
  if (type != FOLIO_CPU && engine.allocations == NULL)
    return fail(error, FOLIO_UNSUPPORTED,
                "allocations are not sampled: start Folio with the option heap");
  return FOLIO_OK;
}

static void begin_cpu(void) {
  if (engine.cpu_sessions++ > 0)
    return;
  cpu_set_running(true);
  engine.next_scan_ns = 0;
  engine_scan_threads();
}

static void end_cpu(void) {
  if (engine.cpu_sessions == 0 || --engine.cpu_sessions > 0)
    return;
  cpu_set_running(false);
  engine_disarm_threads();
}

/* Under the mutex. */
static void begin(struct folio_session *session, int64_t duration_ns) {
  engine_drain();
  engine_stats(&session->began_stats);
  session->began_time_ns = engine_time_ns();
  session->began_cpu_ns = engine_cpu_ns();
  session->began_ns = engine_now_ns();
  if (duration_ns > 0)
    session->until_ns = session->began_ns + duration_ns;
  session->next = engine.sessions;
  engine.sessions = session;
  if (session->type == FOLIO_CPU)
    begin_cpu();
  engine_wake();
}

/* Under the mutex. */
static enum folio_status prepare(enum folio_type type, struct folio_session **out,
                                 struct folio_error *error) {
  enum folio_status status = check_type(type, error);
  if (status != FOLIO_OK)
    return status;
  struct folio_session *session = calloc(1, sizeof(*session));
  struct aggregate *samples = aggregate_create(engine.options.max_stacks);
  if (session == NULL || samples == NULL) {
    free(session);
    aggregate_destroy(samples);
    return fail(error, FOLIO_NO_MEMORY, "out of memory for a session");
  }
  session->type = type;
  session->samples = samples;
  *out = session;
  return FOLIO_OK;
}

enum folio_status folio_session_start(enum folio_type type, int64_t duration_ns,
                                      struct folio_session **out, struct folio_error *error) {
  int64_t entered = engine_enter_own();
  pthread_mutex_lock(&engine.mutex);
  enum folio_status status = prepare(type, out, error);
  if (status == FOLIO_OK)
    begin(*out, duration_ns);
  pthread_mutex_unlock(&engine.mutex);
  engine_leave_own(entered);
  return status;
}

void folio_session_wait(struct folio_session *session) {
  pthread_mutex_lock(&engine.mutex);
  while (session->ended_ns == 0 && session->until_ns != 0)
    pthread_cond_wait(&engine.ended, &engine.mutex);
  pthread_mutex_unlock(&engine.mutex);
}

void folio_session_end(struct folio_session *session) {
  pthread_mutex_lock(&engine.mutex);
  engine_drain();
  if (session->ended_ns == 0)
    session->ended_ns = engine_now_ns();
  pthread_cond_broadcast(&engine.ended);
  pthread_mutex_unlock(&engine.mutex);
}

/* Under the mutex: takes the session off the list, with every sample that is its. */
static void detach(struct folio_session *session) {
  engine_drain();
  if (session->ended_ns == 0)
    session->ended_ns = engine_now_ns();
  struct folio_session **link = &engine.sessions;
  while (*link != session)
    link = &(*link)->next;
  *link = session->next;
  if (session->type == FOLIO_CPU)
    end_cpu();
}

static void add_live(void *context, uint32_t number, uint64_t size) {
  struct aggregate *into = context;
  const struct bucket *allocated = aggregate_at(engine.allocations, number);
  uint32_t place = number == 0 ? 0 : aggregate_find(into, &allocated->key);
  struct bucket *bucket = aggregate_at(into, place);
  double objects = engine_objects_per_sample(size);
  bucket->values[2] += objects;
  bucket->values[3] += objects * (double)size;
}

__attribute__((format(printf, 2, 3))) static void comment(struct recording *recording,
                                                          const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(recording->comments[recording->comment_count++], COMMENT_BYTES, format, arguments);
  va_end(arguments);
}

/* What was lost and what it cost between two readings of the counters. */
static void add_comments(struct recording *recording, const struct folio_stats *from,
                         int64_t from_cpu_ns) {
  struct folio_stats now;
  engine_stats(&now);
  comment(recording, "folio %s", folio_version());
  uint64_t samples = recording->type == FOLIO_CPU ? now.cpu_samples - from->cpu_samples
                                                  : now.heap_samples - from->heap_samples;
  comment(recording,
          "samples: %" PRIu64 " recorded; lost: %" PRIu64 " buffer full, %" PRIu64
          " no thread slot or timer, %" PRIu64 " in a signal handler within a hook, %" PRIu64
          " live objects not tracked",
          samples, now.lost_buffer_full - from->lost_buffer_full,
          now.lost_no_thread - from->lost_no_thread, now.lost_nested - from->lost_nested,
          now.lost_live_full - from->lost_live_full);
  comment(recording, "stacks: %" PRIu64 " truncated, %" PRIu64 " incomplete",
          now.truncated - from->truncated, now.incomplete - from->incomplete);
  uint64_t handled = now.cpu_samples - from->cpu_samples;
  uint64_t handler_ns = now.handler_ns - from->handler_ns;
  comment(recording,
          "cost: handler %.3f ms (%.2f us a sample), reader and export %.3f ms of CPU time, "
          "memory %.2f MiB",
          (double)handler_ns / 1e6, handled > 0 ? (double)handler_ns / 1e3 / (double)handled : 0.0,
          (double)(now.reader_cpu_ns - from->reader_cpu_ns) / 1e6,
          (double)now.memory_bytes / 1048576.0);
  comment(recording, "process: %.3f s of CPU time by the kernel's account",
          (double)(engine_cpu_ns() - from_cpu_ns) / 1e9);
}

static uint32_t count_modules(void) {
  uint32_t count = 0;
  while (module_at(count) != NULL)
    count++;
  return count;
}

/* Under the mutex: everything that the export needs, so that it runs without it. */
static void finish(struct recording *recording, const struct folio_stats *from,
                   int64_t from_cpu_ns) {
  if (recording->type != FOLIO_CPU && engine.live != NULL)
    live_index_sum(engine.live, add_live, recording->samples);
  recording->main_program = module_at(0);
  recording->module_count = count_modules();
  add_comments(recording, from, from_cpu_ns);
}

/* Makes the profile and frees the samples. */
static enum folio_status make_profile(struct recording *recording, struct folio_profile **out,
                                      struct folio_error *error) {
  const char *comments[COMMENTS_MAX];
  for (size_t i = 0; i < recording->comment_count; i++)
    comments[i] = recording->comments[i];
  const struct export export = {
      .type = recording->type,
      .samples = recording->samples,
      .main_program = recording->main_program,
      .module_count = recording->module_count,
      .time_ns = recording->time_ns,
      .duration_ns = recording->duration_ns,
      .period = recording->type == FOLIO_CPU ? INT64_C(1000000000) / engine.options.cpu_hz
                                             : (int64_t)heap_period(),
      .comments = comments,
      .comment_count = recording->comment_count,
  };
  struct folio_profile *profile = calloc(1, sizeof(*profile));
  int outcome = profile != NULL ? export_profile(&export, &profile->bytes, &profile->size) : -1;
  aggregate_destroy(recording->samples);
  if (outcome != 0) {
    free(profile);
    return fail(error, FOLIO_NO_MEMORY, "out of memory for a profile");
  }
  profile->time_ns = recording->time_ns;
  profile->duration_ns = recording->duration_ns;
  *out = profile;
  return FOLIO_OK;
}

enum folio_status folio_session_stop(struct folio_session *session, struct folio_profile **out,
                                     struct folio_error *error) {
  int64_t entered = engine_enter_own();
  struct recording recording = {.type = session->type};
  pthread_mutex_lock(&engine.mutex);
  detach(session);
  recording.samples = session->samples;
  recording.time_ns = session->began_time_ns;
  recording.duration_ns = session->ended_ns - session->began_ns;
  finish(&recording, &session->began_stats, session->began_cpu_ns);
  pthread_mutex_unlock(&engine.mutex);
  free(session);
  enum folio_status status = FOLIO_OK;
  if (out != NULL)
    status = make_profile(&recording, out, error);
  else
    aggregate_destroy(recording.samples);
  engine_leave_own(entered);
  return status;
}

static struct aggregate *copy_allocations(void) {
  struct aggregate *copy = aggregate_create(engine.options.max_stacks);
  for (uint32_t i = 0; copy != NULL && i < aggregate_count(engine.allocations); i++) {
    const struct bucket *bucket = aggregate_at(engine.allocations, i);
    uint32_t place = i == 0 ? 0 : aggregate_find(copy, &bucket->key);
    for (int value = 0; value < 2; value++)
      aggregate_at(copy, place)->values[value] += bucket->values[value];
  }
  return copy;
}

enum folio_status folio_snapshot(enum folio_type type, struct folio_profile **out,
                                 struct folio_error *error) {
  static const struct folio_stats none;
  int64_t entered = engine_enter_own();
  struct recording recording = {.type = type};
  pthread_mutex_lock(&engine.mutex);
  enum folio_status status = check_type(type, error);
  if (status == FOLIO_OK && type == FOLIO_CPU)
    status = fail(error, FOLIO_INVALID, "CPU time has no snapshot: use a session");
  if (status == FOLIO_OK) {
    engine_drain();
    recording.samples = copy_allocations();
    recording.time_ns = engine.began_time_ns;
    recording.duration_ns = engine_now_ns() - engine.began_ns;
    if (recording.samples != NULL)
      finish(&recording, &none, engine.began_cpu_ns);
    else
      status = fail(error, FOLIO_NO_MEMORY, "out of memory for a snapshot");
  }
  pthread_mutex_unlock(&engine.mutex);
  if (status == FOLIO_OK)
    status = make_profile(&recording, out, error);
  engine_leave_own(entered);
  return status;
}

enum folio_status folio_label_set(const char *key, const char *value) {
  uint16_t key_number = label_intern(key);
  uint16_t value_number = value != NULL ? label_intern(value) : 0;
  if (key_number == 0 || (value != NULL && value_number == 0))
    return FOLIO_NO_MEMORY;
  return label_set(key_number, value_number) == 0 ? FOLIO_OK : FOLIO_NO_MEMORY;
}

const char *folio_version(void) {
  return FOLIO_VERSION;
}
