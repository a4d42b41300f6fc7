#include "workers.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct counted_job {
  struct job job; /* first member */
  atomic_int runs;
  int order;
};

static atomic_int jobs_run;
static sem_t gate_entered;
static sem_t gate_open;

static void run_counted(struct job *job) {
  struct counted_job *counted = (struct counted_job *)job;
  counted->order = atomic_fetch_add(&jobs_run, 1);
  atomic_fetch_add(&counted->runs, 1);
}

/* The first job waits for the gate; with one worker nothing overtakes it. */
static void run_gated(struct job *job) {
  if (atomic_load(&jobs_run) == 0) {
    sem_post(&gate_entered);
    sem_wait(&gate_open);
  }
  run_counted(job);
}

static void reset(void) {
  atomic_store(&jobs_run, 0);
  sem_init(&gate_entered, 0, 0);
  sem_init(&gate_open, 0, 0);
}

static void every_job_runs_once(void **state) {
  (void)state;
  enum {
    JOBS = 5000
  };
  static struct counted_job jobs[JOBS];
  reset();
  struct workers *workers = NULL;
  assert_int_equal(workers_start(4, run_counted, &workers, NULL), 0);
  for (int i = 0; i < JOBS; i++)
    workers_submit(workers, &jobs[i].job);
  workers_stop(workers);
  for (int i = 0; i < JOBS; i++)
    assert_int_equal(atomic_load(&jobs[i].runs), 1);
}

static void jobs_run_in_the_order_of_submission(void **state) {
  (void)state;
  struct counted_job jobs[5] = {0};
  reset();
  struct workers *workers = NULL;
  assert_int_equal(workers_start(1, run_gated, &workers, NULL), 0);
  for (int i = 0; i < 5; i++)
    workers_submit(workers, &jobs[i].job);
  sem_post(&gate_open);
  workers_stop(workers);
  for (int i = 0; i < 5; i++)
    assert_int_equal(jobs[i].order, i);
}

static void a_waiting_job_can_be_withdrawn_and_a_running_one_not(void **state) {
  (void)state;
  struct counted_job jobs[3] = {0};
  reset();
  struct workers *workers = NULL;
  assert_int_equal(workers_start(1, run_gated, &workers, NULL), 0);
  for (int i = 0; i < 3; i++)
    workers_submit(workers, &jobs[i].job);
  sem_wait(&gate_entered);
  assert_true(workers_withdraw(workers, &jobs[1].job));
  assert_false(workers_withdraw(workers, &jobs[1].job));
  assert_false(workers_withdraw(workers, &jobs[0].job));
  sem_post(&gate_open);
  workers_stop(workers);
  assert_int_equal(atomic_load(&jobs[0].runs), 1);
  assert_int_equal(atomic_load(&jobs[1].runs), 0);
  assert_int_equal(atomic_load(&jobs[2].runs), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_job_runs_once),
      cmocka_unit_test(jobs_run_in_the_order_of_submission),
      cmocka_unit_test(a_waiting_job_can_be_withdrawn_and_a_running_one_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
