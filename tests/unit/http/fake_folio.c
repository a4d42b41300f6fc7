#include "fake_folio.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "folio/folio.h"

#define PATIENCE_SECONDS 60

struct folio_session {
  enum folio_type type;
  int64_t duration_ns;
};

struct folio_profile {
  size_t size;
  char bytes[];
};

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool started;
  bool heap;
  bool fails;
  bool held;
  int making;
  size_t profile_bytes;
  struct fake_counts counts;
} fake = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void lock(void) {
  pthread_mutex_lock(&fake.mutex);
}

static void unlock(void) {
  pthread_cond_broadcast(&fake.changed);
  pthread_mutex_unlock(&fake.mutex);
}

void fake_reset(void) {
  lock();
  fake.started = true;
  fake.heap = true;
  fake.fails = false;
  fake.held = false;
  fake.profile_bytes = 0;
  fake.counts = (struct fake_counts){0};
  unlock();
}

void fake_set_started(bool started) {
  lock();
  fake.started = started;
  unlock();
}

void fake_set_heap(bool heap) {
  lock();
  fake.heap = heap;
  unlock();
}

void fake_set_profile_bytes(size_t bytes) {
  lock();
  fake.profile_bytes = bytes;
  unlock();
}

void fake_fail_making(void) {
  lock();
  fake.fails = true;
  unlock();
}

void fake_hold_making(void) {
  lock();
  fake.held = true;
  unlock();
}

void fake_let_go(void) {
  lock();
  fake.held = false;
  unlock();
}

static void wait_equal(const int *value, int expected, const char *what) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_SECONDS;
  int outcome = 0;
  pthread_mutex_lock(&fake.mutex);
  while (*value != expected && outcome == 0)
    outcome = pthread_cond_timedwait(&fake.changed, &fake.mutex, &until);
  int last = *value;
  pthread_mutex_unlock(&fake.mutex);
  if (last != expected)
    fail_msg("%d %s instead of %d", last, what, expected);
}

void fake_wait_live(int count) {
  wait_equal(&fake.counts.live, count, "live sessions");
}

void fake_wait_making(int count) {
  wait_equal(&fake.making, count, "profiles being made");
}

struct fake_counts fake_counts(void) {
  lock();
  struct fake_counts counts = fake.counts;
  unlock();
  return counts;
}

static enum folio_status refuse(struct folio_error *error, enum folio_status status,
                                const char *message) {
  if (error != NULL)
    snprintf(error->message, sizeof(error->message), "%s", message);
  return status;
}

static enum folio_status check(enum folio_type type, struct folio_error *error) {
  if (!fake.started)
    return refuse(error, FOLIO_NOT_STARTED, "Folio is not started");
  if (type != FOLIO_CPU && !fake.heap)
    return refuse(error, FOLIO_UNSUPPORTED, "allocations are not sampled");
  return FOLIO_OK;
}

enum folio_status folio_session_start(enum folio_type type, int64_t duration_ns,
                                      struct folio_session **out, struct folio_error *error) {
  lock();
  enum folio_status status = check(type, error);
  if (status == FOLIO_OK) {
    struct folio_session *session = calloc(1, sizeof(*session));
    session->type = type;
    session->duration_ns = duration_ns;
    *out = session;
    fake.counts.started++;
    if (++fake.counts.live > fake.counts.most_live)
      fake.counts.most_live = fake.counts.live;
  }
  unlock();
  return status;
}

/* Under the mutex, but not while it is held. */
static enum folio_status make(const char *kind, enum folio_type type, int64_t duration_ns,
                              struct folio_profile **out, struct folio_error *error) {
  fake.making++;
  pthread_cond_broadcast(&fake.changed);
  while (fake.held)
    pthread_cond_wait(&fake.changed, &fake.mutex);
  fake.making--;
  if (fake.fails)
    return refuse(error, FOLIO_NO_MEMORY, "out of memory for a profile");
  char text[128];
  size_t size =
      (size_t)snprintf(text, sizeof(text), "%s %d %lld", kind, (int)type, (long long)duration_ns);
  size_t room = size > fake.profile_bytes ? size : fake.profile_bytes;
  struct folio_profile *profile = calloc(1, sizeof(*profile) + room);
  profile->size = room;
  memcpy(profile->bytes, text, size);
  fake.counts.made++;
  fake.counts.unfreed++;
  *out = profile;
  return FOLIO_OK;
}

enum folio_status folio_session_stop(struct folio_session *session, struct folio_profile **out,
                                     struct folio_error *error) {
  enum folio_status status = FOLIO_OK;
  lock();
  fake.counts.live--;
  if (out != NULL)
    status = make("session", session->type, session->duration_ns, out, error);
  else
    fake.counts.dropped++;
  unlock();
  free(session);
  return status;
}

enum folio_status folio_snapshot(enum folio_type type, struct folio_profile **out,
                                 struct folio_error *error) {
  lock();
  enum folio_status status = check(type, error);
  if (status == FOLIO_OK)
    status = make("snapshot", type, 0, out, error);
  unlock();
  return status;
}

const void *folio_profile_bytes(const struct folio_profile *profile, size_t *out_size) {
  *out_size = profile->size;
  return profile->bytes;
}

void folio_profile_free(struct folio_profile *profile) {
  if (profile == NULL)
    return;
  lock();
  fake.counts.unfreed--;
  unlock();
  free(profile);
}

const char *folio_version(void) {
  return "9.8.7";
}
