/*
 * Design notes
 *
 * One thread, the reader, wakes ten times a second while anything records (more often
 * when many samples come): it
 * hands samples to the sessions, follows the loaded objects, looks for new threads,
 * and ends the sessions whose time is over. `mutex` guards the engine and its
 * sessions. Whoever stops a session drains first, under the mutex, so that a
 * session holds exactly the samples that were published while it recorded.
 *
 * The region, the thread slots, the live map and the unwind tables stay mapped after
 * folio_stop(): a signal may still be pending. Starting again uses them again.
 *
 * In the child of a fork Folio is stopped and can be started again. Preparing takes
 * the mutex, so that no half-made change is copied, and blocks SIGPROF in the
 * forking thread, so that the child does not begin inside the handler.
 */
#include "engine.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sampler/cpu.h"
#include "sampler/heap.h"
#include "sampler/live.h"
#include "sampler/sampler.h"
#include "sampler/thread_start.h"
#include "sampler/threads.h"
#include "unwind/unwind.h"

#define TICK_NS INT64_C(100000000)

/* So many samples in a tick might fill the ring in a longer one: the next is short. */
#define BUSY_SAMPLES 1000
#define BUSY_TICK_NS INT64_C(5000000)

/* A scan of the threads may take this share of the time. */
#define SCAN_COST_DIVISOR 100

struct engine engine = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .wanted = PTHREAD_COND_INITIALIZER,
    .ended = PTHREAD_COND_INITIALIZER,
};

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t engine_now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

int64_t engine_time_ns(void) {
  return clock_ns(CLOCK_REALTIME);
}

int64_t engine_cpu_ns(void) {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void engine_wake(void) {
  pthread_cond_signal(&engine.wanted);
}

static void scan_when_due(void) {
  int64_t began_ns = engine_now_ns();
  if (engine.cpu_sessions == 0 || began_ns < engine.next_scan_ns)
    return;
  engine_scan_threads();
  int64_t cost_ns = engine_now_ns() - began_ns;
  int64_t rest_ns = cost_ns * SCAN_COST_DIVISOR;
  engine.next_scan_ns = began_ns + (rest_ns > TICK_NS ? rest_ns : TICK_NS);
}

static void end_due_sessions(void) {
  int64_t now_ns = engine_now_ns();
  for (struct folio_session *session = engine.sessions; session != NULL; session = session->next) {
    if (session->ended_ns == 0 && session->until_ns != 0 && session->until_ns <= now_ns) {
      session->ended_ns = now_ns;
      pthread_cond_broadcast(&engine.ended);
    }
  }
}

/* Until the next tick, or an earlier end of a session; for ever when nothing records. */
static void wait_for_work(int64_t tick_ns) {
  if (engine.cpu_sessions == 0 && engine.allocations == NULL) {
    pthread_cond_wait(&engine.wanted, &engine.mutex);
    return;
  }
  int64_t until_ns = engine_now_ns() + tick_ns;
  for (struct folio_session *session = engine.sessions; session != NULL; session = session->next) {
    if (session->ended_ns == 0 && session->until_ns != 0 && session->until_ns < until_ns)
      until_ns = session->until_ns;
  }
  struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
  pthread_cond_clockwait(&engine.wanted, &engine.mutex, CLOCK_MONOTONIC, &until);
}

static void *folio_reader(void *argument) {
  (void)argument;
  pthread_mutex_lock(&engine.mutex);
  struct thread_slot *slot = thread_slot_own();
  if (slot != NULL)
    atomic_store_explicit(&slot->internal, true, memory_order_relaxed);
  while (!engine.stopping) {
    scan_when_due();
    size_t samples = engine_drain();
    end_due_sessions();
    wait_for_work(samples > BUSY_SAMPLES ? BUSY_TICK_NS : TICK_NS);
  }
  pthread_mutex_unlock(&engine.mutex);
  return NULL;
}

static void before_fork(void) {
  sigset_t sigprof;
  sigemptyset(&sigprof);
  sigaddset(&sigprof, SIGPROF);
  pthread_mutex_lock(&engine.mutex);
  pthread_sigmask(SIG_BLOCK, &sigprof, &engine.fork_mask);
}

static void after_fork_in_parent(void) {
  pthread_sigmask(SIG_SETMASK, &engine.fork_mask, NULL);
  pthread_mutex_unlock(&engine.mutex);
}

static void after_fork_in_child(void) {
  struct region *region = atomic_load_explicit(&sampler.region, memory_order_relaxed);
  atomic_store_explicit(&sampler.region, NULL, memory_order_relaxed);
  if (region != NULL)
    region_reset(region);
  heap_stop();
  cpu_set_running(false);
  unwind_after_fork();
  threads_after_fork();
  engine.started = false;
  engine.cpu_sessions = 0;
  for (struct folio_session *session = engine.sessions; session != NULL; session = session->next)
    session->ended_ns = engine_now_ns();
  pthread_cond_init(&engine.wanted, NULL);
  pthread_cond_init(&engine.ended, NULL);
  pthread_sigmask(SIG_SETMASK, &engine.fork_mask, NULL);
  pthread_mutex_unlock(&engine.mutex);
}

static void follow_forks_once(void) {
  static bool followed;
  if (!followed)
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  followed = true;
}

static struct folio_options with_defaults(const struct folio_options *options) {
  struct folio_options result = {0};
  if (options != NULL)
    memcpy(&result, options, options->size < sizeof(result) ? options->size : sizeof(result));
  if (result.cpu_hz == 0)
    result.cpu_hz = 100;
  if (result.heap_period == 0)
    result.heap_period = 512 * 1024;
  if (result.buffer_bytes == 0)
    result.buffer_bytes = 4 << 20;
  if (result.max_threads == 0)
    result.max_threads = THREADS_DEFAULT;
  if (result.max_live == 0)
    result.max_live = 65536;
  if (result.max_stacks == 0)
    result.max_stacks = 65536;
  return result;
}

static enum folio_status fail(struct folio_error *error, enum folio_status status,
                              const char *message) {
  if (error != NULL)
    snprintf(error->message, sizeof(error->message), "%s", message);
  return status;
}

static enum folio_status check_options(const struct folio_options *options,
                                       struct folio_error *error) {
  if (options->cpu_hz > 1000)
    return fail(error, FOLIO_INVALID, "cpu_hz is over 1000: the kernel's clock has no more ticks");
  if (options->heap && !heap_hooked())
    return fail(error, FOLIO_UNSUPPORTED,
                "heap profiles are not possible: the program has another allocator than glibc's");
  return FOLIO_OK;
}

/* What stays mapped for the process's life. */
static enum folio_status map_memory(struct region **region, struct folio_error *error) {
  static struct region *mapped;
  if (mapped == NULL)
    mapped = region_create(engine.options.buffer_bytes);
  if (mapped == NULL || threads_init(engine.options.max_threads) != 0 ||
      live_init(engine.options.max_live) != 0 || unwind_refresh() != 0)
    return fail(error, FOLIO_NO_MEMORY, "out of memory for Folio's buffers");
  *region = mapped;
  return FOLIO_OK;
}

static enum folio_status prepare_heap(struct folio_error *error) {
  aggregate_destroy(engine.allocations);
  live_index_destroy(engine.live);
  engine.allocations = NULL;
  engine.live = NULL;
  if (!engine.options.heap)
    return FOLIO_OK;
  engine.allocations = aggregate_create(engine.options.max_stacks);
  engine.live = live_index_create();
  if (engine.allocations == NULL || engine.live == NULL)
    return fail(error, FOLIO_NO_MEMORY, "out of memory for heap profiles");
  return FOLIO_OK;
}

static enum folio_status start_reader(struct folio_error *error) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failure = pthread_create(&engine.reader, NULL, folio_reader, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failure == 0) {
    pthread_setname_np(engine.reader, "folio");
    return FOLIO_OK;
  }
  if (error != NULL)
    snprintf(error->message, sizeof(error->message), "cannot start Folio's thread: %s",
             strerror(failure));
  return FOLIO_SYSTEM;
}

/* Under the mutex. */
static enum folio_status start(const struct folio_options *options, struct folio_error *error) {
  if (engine.started)
    return fail(error, FOLIO_ALREADY, "Folio is started already");
  engine.options = with_defaults(options);
  struct region *region;
  enum folio_status status = check_options(&engine.options, error);
  if (status == FOLIO_OK)
    status = map_memory(&region, error);
  if (status == FOLIO_OK)
    status = prepare_heap(error);
  if (status == FOLIO_OK && cpu_install() != 0)
    status = fail(error, FOLIO_SYSTEM, "cannot install a handler for SIGPROF");
  if (status != FOLIO_OK)
    return status;
  follow_forks_once();
  thread_start_note_main();
  cpu_set_period(INT64_C(1000000000) / engine.options.cpu_hz);
  engine.stopping = false;
  status = start_reader(error);
  if (status != FOLIO_OK)
    return status;
  engine.began_ns = engine_now_ns();
  engine.began_time_ns = engine_time_ns();
  engine.began_cpu_ns = engine_cpu_ns();
  engine.started = true;
  thread_start_watch();
  atomic_store_explicit(&sampler.region, region, memory_order_release);
  if (engine.options.heap)
    heap_start(engine.options.heap_period, engine.options.seed);
  return FOLIO_OK;
}

enum folio_status folio_start(const struct folio_options *options, struct folio_error *error) {
  pthread_mutex_lock(&engine.mutex);
  enum folio_status status = start(options, error);
  pthread_mutex_unlock(&engine.mutex);
  return status;
}

void folio_stop(void) {
  pthread_mutex_lock(&engine.mutex);
  if (!engine.started) {
    pthread_mutex_unlock(&engine.mutex);
    return;
  }
  heap_stop();
  cpu_set_running(false);
  engine_disarm_threads();
  engine_drain();
  atomic_store_explicit(&sampler.region, NULL, memory_order_release);
  for (struct folio_session *session = engine.sessions; session != NULL; session = session->next) {
    if (session->ended_ns == 0)
      session->ended_ns = engine_now_ns();
  }
  pthread_cond_broadcast(&engine.ended);
  engine.cpu_sessions = 0;
  engine.started = false;
  engine.stopping = true;
  engine_wake();
  pthread_t reader = engine.reader;
  pthread_mutex_unlock(&engine.mutex);
  pthread_join(reader, NULL);
}

int64_t engine_enter_own(void) {
  struct thread_slot *slot = thread_slot_own();
  if (slot != NULL)
    atomic_store_explicit(&slot->internal, true, memory_order_relaxed);
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void engine_leave_own(int64_t entered) {
  struct thread_slot *slot = thread_slot_own();
  if (slot != NULL)
    atomic_store_explicit(&slot->internal, false, memory_order_relaxed);
  int64_t spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - entered;
  pthread_mutex_lock(&engine.mutex);
  engine.own_cpu_ns += spent_ns;
  pthread_mutex_unlock(&engine.mutex);
}

static int64_t reader_cpu_ns(void) {
  clockid_t clock;
  if (!engine.started || pthread_getcpuclockid(engine.reader, &clock) != 0)
    return 0;
  return clock_ns(clock);
}

static uint64_t load(const atomic_uint_fast64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

void engine_stats(struct folio_stats *out) {
  struct region *region = atomic_load_explicit(&sampler.region, memory_order_relaxed);
  *out = (struct folio_stats){
      .size = sizeof(*out),
      .cpu_samples = load(&sampler.cpu_samples),
      .heap_samples = load(&sampler.heap_samples),
      .lost_buffer_full = load(&sampler.lost_buffer_full),
      .lost_no_thread = load(&sampler.lost_no_thread) + engine.threads_unarmed,
      .lost_nested = load(&sampler.lost_nested),
      .lost_live_full = load(&sampler.lost_live_full),
      .truncated = load(&sampler.truncated),
      .incomplete = load(&sampler.incomplete),
      .handler_ns = load(&sampler.handler_ns),
      .reader_cpu_ns = (uint64_t)(reader_cpu_ns() + engine.own_cpu_ns),
      .memory_bytes = (region != NULL ? region_bytes(region) : 0) + threads_bytes() + live_bytes() +
                      unwind_memory_bytes(),
  };
  if (engine.allocations != NULL)
    out->memory_bytes += aggregate_bytes(engine.allocations) + live_index_bytes(engine.live);
  for (struct folio_session *session = engine.sessions; session != NULL; session = session->next)
    out->memory_bytes += aggregate_bytes(session->samples);
}

enum folio_status folio_stats(struct folio_stats *out) {
  struct folio_stats stats;
  pthread_mutex_lock(&engine.mutex);
  engine_stats(&stats);
  pthread_mutex_unlock(&engine.mutex);
  size_t size = out->size < sizeof(stats) ? out->size : sizeof(stats);
  memcpy(out, &stats, size);
  out->size = size;
  return FOLIO_OK;
}
