/* Snapshots are exchanged under running walks and freed when none reads them. */
#include "publish.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pages.h"
#include "unwind/unwind.h"

enum {
  READERS = 3,
  PUBLICATIONS = 400,
  REGIONS = 2000
};

static atomic_bool stop;
static atomic_size_t reads;

/* A snapshot whose regions all say `mark`: a freed one faults, a half-made one is not uniform. */
static struct snapshot *make_marked(uint32_t mark) {
  struct snapshot *snapshot = snapshot_create(REGIONS);
  assert_non_null(snapshot);
  snapshot->count = REGIONS;
  for (size_t i = 0; i < REGIONS; i++)
    snapshot->regions[i].module = mark;
  return snapshot;
}

static void *read_snapshots(void *argument) {
  size_t *wrong = argument;
  while (!atomic_load(&stop)) {
    unsigned slots[2];
    const struct snapshot *outer = snapshot_enter(&slots[0]);
    uint32_t mark = outer->regions[0].module;
    const struct snapshot *inner = snapshot_enter(&slots[1]); /* a signal during the walk */
    for (size_t i = 0; i < REGIONS; i += 97)
      *wrong += outer->regions[i].module != mark || inner->regions[i].module < mark;
    snapshot_leave(slots[1]);
    snapshot_leave(slots[0]);
    atomic_fetch_add(&reads, 1);
  }
  return NULL;
}

static void readers_see_whole_snapshots_in_order(void **state) {
  (void)state;
  pthread_t threads[READERS];
  size_t wrong[READERS] = {0};
  publish(make_marked(0));
  for (size_t i = 0; i < READERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, read_snapshots, &wrong[i]), 0);
  size_t reclaimed = 0;
  for (uint32_t mark = 1; mark <= PUBLICATIONS || atomic_load(&reads) < 1000; mark++) {
    publish(make_marked(mark));
    reclaimed += publish_reclaim() ? 1 : 0;
  }
  atomic_store(&stop, true);
  for (size_t i = 0; i < READERS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(wrong[i], 0);
  }
  assert_in_range(reclaimed, 1, SIZE_MAX);
  assert_true(publish_reclaim());
  publish_release();
  assert_int_equal(pages_held(), 0);
}

static void a_walk_that_does_not_end_delays_the_free_alone(void **state) {
  (void)state;
  unsigned slot;
  publish(make_marked(1));
  const struct snapshot *held = snapshot_enter(&slot);
  size_t one = pages_held();
  publish(make_marked(2));
  assert_false(publish_reclaim());
  assert_int_equal(held->regions[REGIONS - 1].module, 1);
  publish(make_marked(3));
  assert_false(publish_reclaim());
  assert_int_equal(held->regions[REGIONS - 1].module, 1);
  assert_int_equal(pages_held(), 3 * one);
  snapshot_leave(slot);
  assert_true(publish_reclaim());
  assert_int_equal(pages_held(), one);
  publish_release();
  assert_int_equal(pages_held(), 0);
}

/* Its slot was chosen before the phase went on, and it must be seen all the same. */
static void a_walk_in_the_other_slot_is_waited_for(void **state) {
  (void)state;
  unsigned slots[2];
  publish(make_marked(1));
  snapshot_enter(&slots[0]);
  publish(make_marked(2));
  assert_false(publish_reclaim()); /* this went on to the next phase */
  snapshot_enter(&slots[1]);
  assert_int_not_equal(slots[0], slots[1]);
  snapshot_leave(slots[0]);
  assert_false(publish_reclaim());
  snapshot_leave(slots[1]);
  assert_true(publish_reclaim());
  publish_release();
}

static void walks_of_threads_that_a_fork_lost_are_forgotten(void **state) {
  (void)state;
  unsigned lost;
  unsigned own;
  publish(make_marked(1));
  snapshot_enter(&lost);
  snapshot_enter(&own);
  unwind_after_fork();
  publish(make_marked(2));
  assert_true(publish_reclaim());
  snapshot_leave(own); /* the walk in which fork was called ends */
  unsigned later;
  const struct snapshot *held = snapshot_enter(&later);
  publish(make_marked(3));
  assert_false(publish_reclaim());
  assert_int_equal(held->regions[7].module, 2);
  snapshot_leave(later);
  assert_true(publish_reclaim());
  publish_release();
}

static void forks_may_follow_each_other(void **state) {
  (void)state;
  publish(make_marked(0));
  for (uint32_t generation = 1; generation < 20; generation++) {
    unsigned lost;
    snapshot_enter(&lost);
    unwind_after_fork();
    publish(make_marked(generation));
    assert_true(publish_reclaim());
  }
  publish_release();
}

static void there_may_be_no_snapshot(void **state) {
  (void)state;
  unsigned slot;
  assert_null(snapshot_enter(&slot));
  assert_null(snapshot_find(NULL, 4096));
  snapshot_leave(slot);
  assert_true(publish_reclaim());
}

static void regions_are_found(void **state) {
  (void)state;
  for (size_t count = 0; count < 12; count++) {
    struct snapshot *snapshot = snapshot_create(count);
    assert_non_null(snapshot);
    snapshot->count = count;
    for (size_t i = 0; i < count; i++)
      snapshot->regions[i] = (struct region){.start = 100 * i + 10, .end = 100 * i + 60};
    for (uintptr_t address = 0; address < 100 * count + 100; address++) {
      size_t index = address / 100;
      bool inside = index < count && address % 100 >= 10 && address % 100 < 60;
      assert_ptr_equal(snapshot_find(snapshot, address), inside ? &snapshot->regions[index] : NULL);
    }
    pages_unmap(snapshot, snapshot->retired.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(there_may_be_no_snapshot),
      cmocka_unit_test(regions_are_found),
      cmocka_unit_test(readers_see_whole_snapshots_in_order),
      cmocka_unit_test(a_walk_that_does_not_end_delays_the_free_alone),
      cmocka_unit_test(a_walk_in_the_other_slot_is_waited_for),
      cmocka_unit_test(walks_of_threads_that_a_fork_lost_are_forgotten),
      cmocka_unit_test(forks_may_follow_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
