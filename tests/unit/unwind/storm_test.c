/* Libraries come and go, tables are refreshed and every thread is walked, all at once. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "oracle.h"
#include "plugin.h"
#include "shapes.h"
#include "snapshot.h"
#include "unwind/modules.h"
#include "unwind/unwind.h"

enum {
  LOADERS = 2,
  MIN_WALKS = 300,
  MIN_CHANGES = 100,
  MAX_FRAMES = 100,
  PERIOD_NS = 400 * 1000
};

static atomic_bool stop;
static atomic_size_t walks;
static atomic_size_t complete;
static atomic_size_t errno_lost;

static __thread struct unwind_stack thread_stack __attribute__((tls_model("initial-exec")));

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  int before = errno;
  uintptr_t pcs[MAX_FRAMES];
  enum unwind_end end;
  struct unwind_start start = unwind_interrupted(context);
  unwind_walk(&start, &thread_stack, pcs, MAX_FRAMES, &end);
  atomic_fetch_add(&walks, 1);
  atomic_fetch_add(&complete, end == UNWIND_COMPLETE ? 1 : 0);
  atomic_fetch_add(&errno_lost, errno != before ? 1 : 0);
  errno = before;
}

static long walk_here(void *context) {
  (void)context;
  uintptr_t pcs[MAX_FRAMES];
  enum unwind_end end;
  struct unwind_start start = unwind_here();
  return (long)unwind_walk(&start, &thread_stack, pcs, MAX_FRAMES, &end);
}

static void *load_and_call(void *argument) {
  const char *path = argument;
  thread_stack = oracle_stack();
  while (!atomic_load(&stop)) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
      return (void *)(uintptr_t)path;
    long (*call)(long (*)(void *), void *) =
        (long (*)(long (*)(void *), void *))(uintptr_t)dlsym(library, "plugin_call");
    for (int j = 0; j < 20; j++)
      call(walk_here, NULL);
    dlclose(library);
  }
  return NULL;
}

static void *work(void *argument) {
  thread_stack = oracle_stack();
  while (!atomic_load(&stop))
    for (size_t i = 0; i < shape_count; i++)
      shapes[i == 9 ? 0 : i].run(walk_here, NULL, (long)i); /* 9 has static state */
  return argument;
}

static timer_t start_timer(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  struct itimerspec period = {.it_interval.tv_nsec = PERIOD_NS, .it_value.tv_nsec = PERIOD_NS};
  timer_t timer;
  assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
  assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  assert_int_equal(timer_settime(timer, 0, &period, NULL), 0);
  return timer;
}

static void walks_survive_a_storm_of_loading(void **state) {
  (void)state;
  static char paths[LOADERS][4096] = {TEST_PLUGIN_ID, TEST_OTHER_PLUGIN_ID};
  pthread_t loaders[LOADERS];
  pthread_t worker;
  timer_t timer = start_timer();
  assert_int_equal(pthread_create(&worker, NULL, work, NULL), 0);
  for (size_t i = 0; i < LOADERS; i++)
    assert_int_equal(pthread_create(&loaders[i], NULL, load_and_call, paths[i]), 0);
  size_t changes = 0;
  while (changes < MIN_CHANGES || atomic_load(&walks) < MIN_WALKS) {
    changes += modules_changed() ? 1 : 0;
    assert_int_equal(unwind_refresh(), 0);
  }
  atomic_store(&stop, true);
  for (size_t i = 0; i < LOADERS; i++) {
    void *failed;
    pthread_join(loaders[i], &failed);
    assert_null(failed);
  }
  pthread_join(worker, NULL);
  timer_delete(timer);
  signal(SIGPROF, SIG_IGN);
  print_message("%zu walks, %zu complete, %zu refreshes with changes\n", atomic_load(&walks),
                atomic_load(&complete), changes);
  assert_int_equal(atomic_load(&errno_lost), 0);
#if !defined(__SANITIZE_THREAD__) /* which calls handlers later, with registers of the past */
  assert_in_range(atomic_load(&complete), atomic_load(&walks) * 9 / 10, atomic_load(&walks));
#endif
}

/* A walk that began before keeps the table of what was unloaded meanwhile. */
static void a_table_stays_while_a_walk_may_read_it(void **state) {
  (void)state;
  void *library = dlopen(TEST_PLUGIN_ID, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  uintptr_t function = (uintptr_t)dlsym(library, "plugin_call");
  assert_int_equal(unwind_refresh(), 0);
  unsigned slot;
  const struct region *region = snapshot_find(snapshot_enter(&slot), function);
  assert_non_null(region);
  uint32_t offset = (uint32_t)(function - region->start);
  packed_rule rule = code_table_find(region->table, offset);
  size_t bytes = unwind_memory_bytes();
  dlclose(library);
  assert_int_equal(unwind_refresh(), 0);
  assert_int_equal(code_table_find(region->table, offset), rule);
  assert_in_range(unwind_memory_bytes(), bytes, SIZE_MAX);
  snapshot_leave(slot);
  assert_int_equal(unwind_refresh(), 0);
  assert_in_range(unwind_memory_bytes(), 1, bytes - 1);
}

static long walk_deeper(void *context) {
  (void)context;
  return walk_here(NULL);
}

/* The child of a fork walks and refreshes on its own. */
static void the_child_of_a_fork_goes_on(void **state) {
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    unwind_after_fork();
    void *library = dlopen(TEST_PLUGIN_ID, RTLD_NOW);
    bool good = library != NULL && unwind_refresh() == 0 &&
                shape_recurse(walk_deeper, NULL, 20) > 20 && !modules_changed();
    _exit(good ? 42 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 42);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walks_survive_a_storm_of_loading),
      cmocka_unit_test(a_table_stays_while_a_walk_may_read_it),
      cmocka_unit_test(the_child_of_a_fork_goes_on),
  };
  thread_stack = oracle_stack();
  if (unwind_refresh() != 0)
    return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unwind_release();
  return failed;
}
