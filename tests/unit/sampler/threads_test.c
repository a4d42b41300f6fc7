#include "sampler/threads.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_thread_has_one_slot(void **state) {
  (void)state;
  struct thread_slot *own = thread_slot_own();
  assert_non_null(own);
  assert_ptr_equal(thread_slot_own(), own);
  assert_ptr_equal(thread_slot_find(gettid()), own);
  assert_ptr_equal(thread_slot_of(gettid()), own);
  assert_null(thread_slot_find(1 << 29));
}

static void only_slots_are_valid(void **state) {
  (void)state;
  struct thread_slot *own = thread_slot_own();
  assert_true(thread_slot_valid(own));
  assert_false(thread_slot_valid((char *)own + 8));
  assert_false(thread_slot_valid(NULL));
  assert_false(thread_slot_valid(&own));
}

/* All threads ask for all ids in the same order: they must agree. */
enum {
  IDS = 3000
};

static void *take_all(void *argument) {
  struct thread_slot **slots = argument;
  for (int i = 0; i < IDS; i++)
    slots[i] = thread_slot_of(1000000 + i);
  return NULL;
}

static void threads_that_race_for_an_id_get_one_slot(void **state) {
  (void)state;
  static struct thread_slot *slots[4][IDS];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, take_all, slots[i]), 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < IDS; i++) {
    assert_non_null(slots[0][i]);
    for (int thread = 1; thread < 4; thread++)
      assert_ptr_equal(slots[thread][i], slots[0][i]);
  }
  for (int i = 0; i < IDS; i++)
    atomic_store(&slots[0][i]->tid, 0);
}

static void a_full_neighbourhood_gives_no_slot(void **state) {
  (void)state;
  int taken = 0;
  static struct thread_slot *slots[100000];
  while (taken < 100000 && (slots[taken] = thread_slot_of(2000000 + taken)) != NULL)
    taken++;
  assert_in_range(taken, 2000, 99999);
  for (int i = 0; i < taken; i++)
    atomic_store(&slots[i]->tid, 0);
}

static int in_child(void) {
  struct thread_slot *before = thread_slot_own();
  threads_after_fork();
  struct thread_slot *now = thread_slot_own();
  if (now == NULL || now == before || atomic_load(&now->tid) != gettid())
    return 1;
  if (atomic_load(&now->labels[0]) != 0x10002)
    return 2;
  if (atomic_load(&before->tid) != 0)
    return 3;
  return now->stack.high == 4096 ? 0 : 4;
}

static void a_forks_child_keeps_the_labels_under_its_new_id(void **state) {
  (void)state;
  struct thread_slot *own = thread_slot_own();
  atomic_store(&own->labels[0], 0x10002);
  own->stack.high = 4096;
  pid_t child = fork();
  if (child == 0)
    _exit(in_child());
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(WEXITSTATUS(status), 0);
  atomic_store(&own->labels[0], 0);
}

static int init(void **state) {
  (void)state;
  return threads_init(4096);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_has_one_slot),
      cmocka_unit_test(only_slots_are_valid),
      cmocka_unit_test(threads_that_race_for_an_id_get_one_slot),
      cmocka_unit_test(a_full_neighbourhood_gives_no_slot),
      cmocka_unit_test(a_forks_child_keeps_the_labels_under_its_new_id),
  };
  return cmocka_run_group_tests(tests, init, NULL);
}
