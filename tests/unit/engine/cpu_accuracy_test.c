/*
 * Known CPU shares of known threads and functions. What the threads really used is read
 * from the kernel, so that a busy machine does not matter.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "folio/folio.h"
#include "measured.h"
#include "pprof/reader.h"

#define SAMPLES 4000
#define PERIOD_NS INT64_C(4000000) /* 250 Hz, the kernel's own tick */

static volatile uint64_t sink;

static int64_t thread_cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((noinline)) static void work_quarter(uint64_t amount) {
  for (uint64_t i = 0; i < amount; i++)
    sink += i;
}

__attribute__((noinline)) static void work_three_quarters(uint64_t amount) {
  for (uint64_t i = 0; i < 3 * amount; i++)
    sink += i;
}

struct worker {
  const char *label;
  int64_t cpu_ns;     /* to use */
  int64_t used_ns;    /* by the kernel's account */
  int64_t quarter_ns; /* of it in work_quarter() */
};

/* In pieces of random length, so that they do not keep step with the kernel's clock. */
static void *work(void *argument) {
  struct worker *worker = argument;
  unsigned random = (unsigned)worker->cpu_ns;
  folio_label_set("worker", worker->label);
  int64_t began = thread_cpu_ns();
  int64_t now = began;
  while (now - began < worker->cpu_ns) {
    uint64_t amount = 5000 + (uint64_t)rand_r(&random) % 45000;
    work_quarter(amount);
    int64_t between = thread_cpu_ns();
    worker->quarter_ns += between - now;
    work_three_quarters(amount);
    now = thread_cpu_ns();
  }
  worker->used_ns = now - began;
  return NULL;
}

static int64_t process_cpu_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

static void assert_close(const char *what, double measured, double expected, double tolerance) {
  print_message("%s: %.4f, expected %.4f, tolerance %.4f\n", what, measured, expected, tolerance);
  if (fabs(measured - expected) > tolerance)
    fail_msg("%s: %.4f, expected %.4f within %.4f", what, measured, expected, tolerance);
}

static void shares_are_what_the_kernel_says(void **state) {
  (void)state;
  const struct folio_options options = {.size = sizeof(options),
                                        .cpu_hz = (uint32_t)(1000000000 / PERIOD_NS)};
  struct folio_error error;
  assert_int_equal(folio_start(&options, &error), FOLIO_OK);
  static struct worker workers[] = {
      {.label = "10"}, {.label = "20"}, {.label = "30"}, {.label = "40"}};
  pthread_t threads[4];
  struct folio_session *session = measured_start(FOLIO_CPU, 0);
  int64_t process_before = process_cpu_ns();
  for (int i = 0; i < 4; i++) {
    workers[i].cpu_ns = SAMPLES * PERIOD_NS / 10 * (i + 1);
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  int64_t process_used = process_cpu_ns() - process_before;
  struct pprof_profile *profile = measured_stop(session);
  folio_stop();

  double total = (double)measured_total(profile, "cpu");
  double used = 0;
  double used_quarter = 0;
  for (int i = 0; i < 4; i++) {
    used += (double)workers[i].used_ns;
    used_quarter += (double)workers[i].quarter_ns;
  }
  assert_close("CPU seconds against getrusage", total / 1e9, (double)process_used / 1e9,
               0.02 * (double)process_used / 1e9);
  for (int i = 0; i < 4; i++) {
    double share = (double)measured_labelled(profile, "cpu", "worker", workers[i].label) / total;
    assert_close(workers[i].label, share, (double)workers[i].used_ns / used, 0.015);
  }
  double samples = (double)measured_total(profile, "samples");
  double quarter = (double)measured_under(profile, "cpu", "work_quarter");
  double rest = (double)measured_under(profile, "cpu", "work_three_quarters");
  double share = used_quarter / used;
  assert_close("share of work_quarter", quarter / (quarter + rest), share,
               4 * sqrt(share * (1 - share) / samples));
  pprof_profile_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_are_what_the_kernel_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
