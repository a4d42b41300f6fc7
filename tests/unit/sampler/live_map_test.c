#include "live_map.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void *address(uintptr_t number) {
  return (void *)(number << 4);
}

static void an_object_is_there_until_it_is_removed(void **state) {
  (void)state;
  assert_false(live_maybe(address(5)));
  assert_true(live_add(address(5), 77));
  assert_true(live_maybe(address(5)));
  assert_int_equal(live_find((uintptr_t)address(5)), 77);
  assert_int_equal(live_remove(address(5)), 77);
  assert_int_equal(live_remove(address(5)), 0);
  assert_false(live_maybe(address(5)));
}

static void the_filter_never_denies_an_object(void **state) {
  (void)state;
  enum {
    OBJECTS = 4000
  };
  for (uintptr_t i = 1; i <= OBJECTS; i++)
    assert_true(live_add(address(i * 977), i));
  for (uintptr_t i = 1; i <= OBJECTS; i++)
    assert_true(live_maybe(address(i * 977)));
  for (uintptr_t i = 1; i <= OBJECTS; i++)
    assert_int_equal(live_remove(address(i * 977)), i);
  for (uintptr_t i = 1; i <= OBJECTS; i++)
    assert_false(live_maybe(address(i * 977)));
}

/* free(NULL) hits the filter like any other address; a free place must not be taken for it. */
static void null_is_never_in_the_map(void **state) {
  (void)state;
  atomic_uchar *filter = live_filter_of(NULL);
  atomic_store(filter, 1);
  assert_true(live_maybe(NULL));
  assert_int_equal(live_remove(NULL), 0);
  assert_int_equal(atomic_load(filter), 1);
  assert_int_equal(live_find(0), 0);
  atomic_store(filter, 0);
}

static void count_visit(void *context, uint64_t serial) {
  uint64_t *sum = context;
  *sum += serial;
}

static void a_full_map_refuses_and_keeps_what_it_has(void **state) {
  (void)state;
  static uint64_t added[40000];
  uint64_t kept = 0;
  uint64_t refused = 0;
  uint64_t sum = 0;
  for (uintptr_t i = 1; i <= 40000; i++) {
    added[i - 1] = live_add(address(i * 31 + 1000000), i) ? i : 0;
    kept += added[i - 1] != 0;
    refused += added[i - 1] == 0;
    sum += added[i - 1];
  }
  assert_true(kept >= 4096);
  assert_true(refused > 0);
  uint64_t visited = 0;
  live_visit(count_visit, &visited);
  assert_int_equal(visited, sum);
  for (uintptr_t i = 1; i <= 40000; i++)
    assert_int_equal(live_remove(address(i * 31 + 1000000)), added[i - 1]);
  visited = 0;
  live_visit(count_visit, &visited);
  assert_int_equal(visited, 0);
}

/* Each thread owns its objects, as threads own what malloc gave them. */
static void *add_and_remove(void *argument) {
  uintptr_t base = (uintptr_t)argument;
  for (uintptr_t i = 1; i <= 30000; i++) {
    void *object = address(base + i % 500);
    if (live_add(object, base + i) && live_remove(object) != base + i)
      return argument;
  }
  return NULL;
}

static void threads_do_not_disturb_each_other(void **state) {
  (void)state;
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, add_and_remove, (void *)((i + 1) << 20)), 0);
  for (int i = 0; i < 4; i++) {
    void *failed = threads;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  uint64_t visited = 0;
  live_visit(count_visit, &visited);
  assert_int_equal(visited, 0);
}

static int init(void **state) {
  (void)state;
  return live_init(4096);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_object_is_there_until_it_is_removed),
      cmocka_unit_test(the_filter_never_denies_an_object),
      cmocka_unit_test(null_is_never_in_the_map),
      cmocka_unit_test(a_full_map_refuses_and_keeps_what_it_has),
      cmocka_unit_test(threads_do_not_disturb_each_other),
  };
  return cmocka_run_group_tests(tests, init, NULL);
}
