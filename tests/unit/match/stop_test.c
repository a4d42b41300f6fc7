#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <cmocka.h>

#include "corpus/fold.h"
#include "text.h"

/*
 * A count in one thread, stopped from another. The linker puts the functions
 * below in the place of read() and corpus_fold_copy(), so that the test knows
 * that a count has come so far and stops it in the midst of its reading or matching.
 */

enum {
  WORKS = 42, /* a text of the size of the real one */
  LINES_PER_WORK = 4118,
  ATTEMPTS = 3,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  LIMIT_MS = 500,
#else
  LIMIT_MS = 50,
#endif
};

/* Where the count is stopped: at the n-th call of one of the two functions. */
struct stopping_point {
  int read_calls;
  int fold_calls;
};

static struct stopping_point calls_left;
static sem_t reached;

static void reach(int *left) {
  if (*left > 0 && --*left == 0)
    sem_post(&reached);
}

ssize_t __real_read(int file, void *buffer, size_t size);
ssize_t __wrap_read(int file, void *buffer, size_t size);
char *__real_corpus_fold_copy(const char *text, size_t length, size_t *out_length);
char *__wrap_corpus_fold_copy(const char *text, size_t length, size_t *out_length);

ssize_t __wrap_read(int file, void *buffer, size_t size) {
  reach(&calls_left.read_calls);
  return __real_read(file, buffer, size);
}

char *__wrap_corpus_fold_copy(const char *text, size_t length, size_t *out_length) {
  reach(&calls_left.fold_calls);
  return __real_corpus_fold_copy(text, length, out_length);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 * 1000 * 1000 + now.tv_nsec;
}

static int setup(void **state) {
  struct text *text = malloc(sizeof *text);
  text_create(text);
  char bytes[LINES_PER_WORK * 31];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = "The quick brown fox jumps over\n"[i % 31];
  for (int work = 0; work < WORKS; work++) {
    char name[] = {(char)('0' + work / 10), (char)('0' + work % 10), '.', 't', 'x', 't', '\0'};
    text_write(text, name, bytes, sizeof bytes);
  }
  text_open(text);
  assert_int_equal(sem_init(&reached, 0, 0), 0);
  *state = text;
  return 0;
}

static int teardown(void **state) {
  text_destroy(*state);
  free(*state);
  sem_destroy(&reached);
  return 0;
}

struct counting {
  const struct match_version *version;
  void *state;
  atomic_bool stop;
  enum match_outcome outcome;
  int64_t count;
};

static void *counting_run(void *argument) {
  struct counting *counting = argument;
  const struct match_query query = {.phrase = "lazy dog", .length = 8, .stop = &counting->stop};
  counting->outcome = counting->version->count(counting->state, &query, &counting->count, NULL);
  return NULL;
}

/* Stops one count; returns the milliseconds from the flag to the count's end. */
static int64_t stop_count(const struct text *text, const struct match_version *version,
                          struct stopping_point point) {
  struct counting counting = {.version = version, .count = -1};
  assert_int_equal(version->prepare(text->corpus, &counting.state, NULL), MATCH_OK);
  calls_left = point;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, counting_run, &counting), 0);
  assert_int_equal(sem_wait(&reached), 0);
  int64_t stopped_ns = now_ns();
  atomic_store(&counting.stop, true);
  assert_int_equal(pthread_join(thread, NULL), 0);
  int64_t took_ms = (now_ns() - stopped_ns) / (1000 * 1000);
  assert_int_equal(counting.outcome, MATCH_STOPPED);
  assert_int_equal(counting.count, -1);
  version->release(counting.state);
  return took_ms;
}

/* The best of a few, since another program may hold up any one. */
static void assert_stops_in_time(const struct text *text, const struct match_version *version,
                                 struct stopping_point point) {
  int64_t best_ms = INT64_MAX;
  for (int i = 0; i < ATTEMPTS && best_ms > LIMIT_MS; i++)
    best_ms = stop_count(text, version, point);
  assert_in_range(best_ms, 0, LIMIT_MS);
}

static void reading_stops(void **state) {
  for (int number = 1; number <= 3; number++) {
    const struct match_version *version = match_version_find(number);
    assert_stops_in_time(*state, version, (struct stopping_point){.read_calls = 1});
    assert_stops_in_time(*state, version, (struct stopping_point){.read_calls = 700});
  }
}

static void matching_stops(void **state) {
  for (int number = 1; number <= 4; number++) {
    const struct match_version *version = match_version_find(number);
    assert_stops_in_time(*state, version, (struct stopping_point){.fold_calls = 2});
    assert_stops_in_time(*state, version, (struct stopping_point){.fold_calls = 10000});
  }
}

/* A flag that was set before the start: not one line is matched. */
static void a_stopped_count_does_not_start(void **state) {
  const struct text *text = *state;
  for (size_t i = 0; i < match_version_count(); i++) {
    struct counting counting = {.version = match_version_at(i), .stop = true, .count = -1};
    assert_int_equal(counting.version->prepare(text->corpus, &counting.state, NULL), MATCH_OK);
    counting_run(&counting);
    assert_int_equal(counting.outcome, MATCH_STOPPED);
    assert_int_equal(counting.count, -1);
    counting.version->release(counting.state);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_stops),
      cmocka_unit_test(matching_stops),
      cmocka_unit_test(a_stopped_count_does_not_start),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
