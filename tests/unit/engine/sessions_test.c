/* Folio as its users call it, in a program of its own. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "folio/folio.h"
#include "measured.h"
#include "pprof/reader.h"

#define MILLISECOND_NS INT64_C(1000000)

static volatile uint64_t sink;

static int64_t thread_cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Uses CPU time, not wall time: the machine may be busy. */
__attribute__((noinline)) static void burn(int64_t cpu_ns) {
  int64_t until = thread_cpu_ns() + cpu_ns;
  while (thread_cpu_ns() < until) {
    for (int i = 0; i < 10000; i++)
      sink += (uint64_t)i;
  }
}

__attribute__((noinline)) static void burn_other(int64_t cpu_ns) {
  burn(cpu_ns);
  sink++;
}

static int start_folio(void **state) {
  (void)state;
  struct folio_error error;
  if (folio_start(NULL, &error) == FOLIO_OK)
    return 0;
  print_error("%s\n", error.message);
  return -1;
}

static int stop_folio(void **state) {
  (void)state;
  folio_stop();
  return 0;
}

static void a_session_sees_what_runs_while_it_records(void **state) {
  (void)state;
  burn_other(200 * MILLISECOND_NS);
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  burn(500 * MILLISECOND_NS);
  struct pprof_profile *profile = measured_stop(session);
  assert_in_range(measured_under(profile, "cpu", "burn"), 300 * MILLISECOND_NS,
                  700 * MILLISECOND_NS);
  assert_int_equal(measured_under(profile, "cpu", "burn_other"), 0);
  assert_int_equal(measured_total(profile, "cpu"),
                   measured_total(profile, "samples") * 10 * MILLISECOND_NS);
  assert_int_equal(profile->header.period, 10 * MILLISECOND_NS);
  pprof_profile_free(profile);
}

static void two_readers_at_once_are_both_served(void **state) {
  (void)state;
  struct folio_session *whole = measured_start(FOLIO_CPU, 0);
  burn_other(300 * MILLISECOND_NS);
  struct folio_session *second = measured_start(FOLIO_CPU, 0);
  burn(300 * MILLISECOND_NS);
  struct pprof_profile *second_profile = measured_stop(second);
  burn_other(100 * MILLISECOND_NS);
  struct pprof_profile *whole_profile = measured_stop(whole);
  assert_int_equal(measured_under(second_profile, "cpu", "burn_other"), 0);
  assert_int_equal(measured_under(whole_profile, "cpu", "burn") -
                       measured_under(whole_profile, "cpu", "burn_other"),
                   measured_under(second_profile, "cpu", "burn"));
  pprof_profile_free(second_profile);
  pprof_profile_free(whole_profile);
}

static void a_duration_ends_the_session(void **state) {
  (void)state;
  struct folio_session *session = measured_start(FOLIO_CPU, 50 * MILLISECOND_NS);
  folio_session_wait(session);
  burn_other(200 * MILLISECOND_NS);
  struct pprof_profile *profile = measured_stop(session);
  assert_int_equal(measured_under(profile, "cpu", "burn_other"), 0);
  assert_in_range(profile->header.duration_ns, 50 * MILLISECOND_NS, 5000 * MILLISECOND_NS);
  pprof_profile_free(profile);
}

static void an_ended_session_keeps_what_it_has(void **state) {
  (void)state;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  burn(200 * MILLISECOND_NS);
  folio_session_end(session);
  folio_session_end(session);
  burn_other(200 * MILLISECOND_NS);
  struct pprof_profile *profile = measured_stop(session);
  assert_true(measured_under(profile, "cpu", "burn") > 50 * MILLISECOND_NS);
  assert_int_equal(measured_under(profile, "cpu", "burn_other"), 0);
  pprof_profile_free(profile);
}

static void labels_are_in_the_samples(void **state) {
  (void)state;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  assert_int_equal(folio_label_set("query", "hello"), FOLIO_OK);
  burn(300 * MILLISECOND_NS);
  assert_int_equal(folio_label_set("query", NULL), FOLIO_OK);
  burn_other(100 * MILLISECOND_NS);
  struct pprof_profile *profile = measured_stop(session);
  int64_t labelled = measured_labelled(profile, "cpu", "query", "hello");
  assert_in_range(labelled, 150 * MILLISECOND_NS, 450 * MILLISECOND_NS);
  assert_true(measured_total(profile, "cpu") > labelled);
  pprof_profile_free(profile);
}

static void *burn_in_thread(void *argument) {
  burn_other(*(int64_t *)argument);
  return NULL;
}

static void threads_that_start_later_are_sampled(void **state) {
  (void)state;
  int64_t each = 100 * MILLISECOND_NS;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  for (int i = 0; i < 8; i++) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, burn_in_thread, &each), 0);
    pthread_join(thread, NULL);
  }
  struct pprof_profile *profile = measured_stop(session);
  assert_in_range(measured_under(profile, "cpu", "burn_other"), 600 * MILLISECOND_NS,
                  1000 * MILLISECOND_NS);
  pprof_profile_free(profile);
}

static atomic_int raw_done;
static char raw_stack[256 * 1024] __attribute__((aligned(64)));

static int burn_in_raw_thread(void *argument) {
  burn_other(*(int64_t *)argument);
  atomic_store(&raw_done, 1);
  for (;;)
    syscall(SYS_exit, 0);
  return 0;
}

/* Nobody told Folio of it, and it shares the thread-local storage of its creator. */
static void a_thread_from_clone_is_sampled(void **state) {
  (void)state;
  int64_t time = 600 * MILLISECOND_NS;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  assert_true(clone(burn_in_raw_thread, raw_stack + sizeof(raw_stack), flags, &time) > 0);
  const struct timespec tick = {.tv_nsec = MILLISECOND_NS};
  while (atomic_load(&raw_done) == 0)
    nanosleep(&tick, NULL);
  struct pprof_profile *profile = measured_stop(session);
  assert_in_range(measured_under(profile, "cpu", "burn_other"), 200 * MILLISECOND_NS,
                  700 * MILLISECOND_NS);
  pprof_profile_free(profile);
}

static int profile_in_child(void) {
  struct folio_error error;
  struct folio_session *session;
  struct folio_profile *profile;
  if (folio_session_start(FOLIO_CPU, 0, &session, &error) != FOLIO_NOT_STARTED)
    return 1;
  if (folio_start(NULL, &error) != FOLIO_OK ||
      folio_session_start(FOLIO_CPU, 0, &session, &error) != FOLIO_OK)
    return 2;
  burn_other(300 * MILLISECOND_NS);
  if (folio_session_stop(session, &profile, &error) != FOLIO_OK)
    return 3;
  struct pprof_profile *read;
  struct pprof_error reason;
  size_t size;
  const void *bytes = folio_profile_bytes(profile, &size);
  if (pprof_read(bytes, size, NULL, &read, &reason) != 0)
    return 4;
  return measured_under(read, "cpu", "burn_other") > 100 * MILLISECOND_NS ? 0 : 5;
}

static void a_forks_child_can_be_profiled_anew_and_the_parent_goes_on(void **state) {
  (void)state;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  pid_t child = fork();
  if (child == 0)
    _exit(profile_in_child());
  burn(300 * MILLISECOND_NS);
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  struct pprof_profile *profile = measured_stop(session);
  assert_true(measured_under(profile, "cpu", "burn") > 100 * MILLISECOND_NS);
  pprof_profile_free(profile);
}

static void errno_survives_the_handler(void **state) {
  (void)state;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  int64_t until = thread_cpu_ns() + 500 * MILLISECOND_NS;
  while (thread_cpu_ns() < until) {
    errno = 4711;
    for (int i = 0; i < 100000; i++)
      sink += (uint64_t)i;
    assert_int_equal(errno, 4711);
  }
  struct pprof_profile *profile = measured_stop(session);
  assert_true(measured_total(profile, "samples") > 20);
  pprof_profile_free(profile);
}

static void stopping_ends_sessions_and_late_signals_do_no_harm(void **state) {
  (void)state;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  burn(200 * MILLISECOND_NS);
  folio_stop();
  raise(SIGPROF);
  struct folio_error error;
  assert_int_equal(folio_start(NULL, &error), FOLIO_OK);
  struct pprof_profile *profile = measured_stop(session);
  assert_true(measured_under(profile, "cpu", "burn") > 50 * MILLISECOND_NS);
  pprof_profile_free(profile);
}

static void wrong_calls_are_answered(void **state) {
  (void)state;
  struct folio_error error;
  struct folio_session *session = NULL;
  struct folio_profile *profile = NULL;
  assert_int_equal(folio_start(NULL, &error), FOLIO_ALREADY);
  assert_string_equal(error.message, "Folio is started already");
  assert_int_equal(folio_session_start((enum folio_type)77, 0, &session, &error), FOLIO_INVALID);
  assert_string_equal(error.message, "there is no profile type 77");
  assert_int_equal(folio_session_start(FOLIO_HEAP, 0, &session, &error), FOLIO_UNSUPPORTED);
  assert_int_equal(folio_snapshot(FOLIO_ALLOCS, &profile, &error), FOLIO_UNSUPPORTED);
  folio_stop();
  assert_int_equal(folio_session_start(FOLIO_CPU, 0, &session, &error), FOLIO_NOT_STARTED);
  const struct folio_options fast = {.size = sizeof(fast), .cpu_hz = 5000};
  assert_int_equal(folio_start(&fast, &error), FOLIO_INVALID);
  assert_int_equal(folio_start(NULL, &error), FOLIO_OK);
}

static void a_profile_is_written_whole_or_not_at_all(void **state) {
  (void)state;
  struct folio_error error;
  struct folio_profile *profile = NULL;
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  burn(50 * MILLISECOND_NS);
  assert_int_equal(folio_session_stop(session, &profile, &error), FOLIO_OK);
  char folder[] = "/tmp/folio-test-XXXXXX";
  assert_non_null(mkdtemp(folder));
  char path[64];
  snprintf(path, sizeof(path), "%s/cpu.pb.gz", folder);
  assert_int_equal(folio_profile_write(profile, path, &error), FOLIO_OK);
  struct pprof_profile *read = NULL;
  struct pprof_error reason;
  assert_int_equal(pprof_read_file(path, NULL, &read, &reason), 0);
  pprof_profile_free(read);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(folio_profile_write(profile, "/nowhere/cpu.pb.gz", &error), FOLIO_SYSTEM);
  assert_string_equal(error.message,
                      "cannot write the profile /nowhere/cpu.pb.gz: No such file or directory");
  assert_int_equal(rmdir(folder), 0); /* nothing else was left */
  folio_profile_free(profile);
}

#define WITH_FOLIO(test) cmocka_unit_test_setup_teardown(test, start_folio, stop_folio)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_FOLIO(a_session_sees_what_runs_while_it_records),
      WITH_FOLIO(two_readers_at_once_are_both_served),
      WITH_FOLIO(a_duration_ends_the_session),
      WITH_FOLIO(an_ended_session_keeps_what_it_has),
      WITH_FOLIO(labels_are_in_the_samples),
      WITH_FOLIO(threads_that_start_later_are_sampled),
      WITH_FOLIO(a_thread_from_clone_is_sampled),
      WITH_FOLIO(a_forks_child_can_be_profiled_anew_and_the_parent_goes_on),
      WITH_FOLIO(errno_survives_the_handler),
      WITH_FOLIO(stopping_ends_sessions_and_late_signals_do_no_harm),
      WITH_FOLIO(wrong_calls_are_answered),
      WITH_FOLIO(a_profile_is_written_whole_or_not_at_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
