#include "heap_sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "live_map.h"
#include "sampler/sampler.h"
#include "sampler/threads.h"
#include "unwind/unwind.h"

#define PERIOD 4096

/* Objects that no allocator ever saw: sampling looks at their address alone. */
static void *object_at(uintptr_t number) {
  return (void *)(number << 4);
}

/* Allocates as a hook would, and returns the samples that the region got. */
static uint64_t allocate(struct heap_countdown *countdown, size_t size, uint64_t times) {
  struct region *region = atomic_load(&sampler.region);
  uint64_t samples = 0;
  for (uint64_t i = 1; i <= times; i++) {
    countdown->left -= (int64_t)size;
    if (countdown->left >= 0)
      continue;
    heap_sample(countdown, object_at(i), size);
    for (const struct record *record = region_peek(region); record != NULL;
         record = region_peek(region)) {
      assert_int_equal(record->kind, RECORD_ALLOCATION);
      assert_int_equal(record->size, size);
      assert_int_equal(record->address, (uintptr_t)object_at(i));
      assert_int_equal(live_remove(object_at(i)), record->serial);
      region_consume(region);
      samples++;
    }
  }
  return samples;
}

/* N objects sampled with probability p each: N is estimated with variance N (1 - p) / p. */
static void counts_are_estimated_without_bias(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 16, 100, 1000, 4096, 20000, 1 << 20};
  struct heap_countdown countdown = {0};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    double probability = -expm1(-(double)sizes[i] / PERIOD);
    uint64_t times = (uint64_t)(4000 / probability);
    double estimate = (double)allocate(&countdown, sizes[i], times) / probability;
    double error = sqrt((double)times * (1 - probability) / probability);
    if (fabs(estimate - (double)times) > 5 * error + 1)
      fail_msg("size %zu: estimated %.0f of %lu, standard error %.1f", sizes[i], estimate, times,
               error);
  }
}

/* A fresh thread's first allocations are no more and no less likely to be sampled. */
static void a_threads_first_allocation_is_sampled_as_any_other(void **state) {
  (void)state;
  const double probability = -expm1(-1000.0 / PERIOD);
  enum {
    THREADS = 20000
  };
  uint64_t samples = 0;
  for (int i = 0; i < THREADS; i++) {
    struct heap_countdown countdown = {0};
    samples += allocate(&countdown, 1000, 1);
  }
  double expected = THREADS * probability;
  double error = sqrt(THREADS * probability * (1 - probability));
  if (fabs((double)samples - expected) > 5 * error)
    fail_msg("%lu samples, expected %.0f, standard error %.1f", samples, expected, error);
}

static void a_thread_of_folio_is_not_sampled(void **state) {
  (void)state;
  struct heap_countdown countdown = {0};
  atomic_store(&thread_slot_own()->internal, true);
  assert_int_equal(allocate(&countdown, 1 << 20, 100), 0);
  atomic_store(&thread_slot_own()->internal, false);
  assert_int_equal(allocate(&countdown, 1 << 20, 100), 100);
}

static void an_allocation_within_a_hook_is_counted_as_lost(void **state) {
  (void)state;
  struct heap_countdown countdown = {0};
  uint64_t before = atomic_load(&sampler.lost_nested);
  atomic_store(&thread_slot_own()->sampling, true);
  assert_int_equal(allocate(&countdown, 1 << 20, 100), 0);
  atomic_store(&thread_slot_own()->sampling, false);
  assert_int_equal(atomic_load(&sampler.lost_nested) - before, 100);
}

static void labels_go_with_the_sample(void **state) {
  (void)state;
  struct heap_countdown countdown = {0};
  atomic_store(&thread_slot_own()->labels[3], 5U << 16 | 6);
  countdown.left = -1;
  heap_sample(&countdown, object_at(1), 1 << 30);
  const struct record *record = region_peek(atomic_load(&sampler.region));
  assert_non_null(record);
  assert_int_equal(record->labels[3].key, 5);
  assert_int_equal(record->labels[3].value, 6);
  region_consume(atomic_load(&sampler.region));
  live_remove(object_at(1));
  atomic_store(&thread_slot_own()->labels[3], 0);
}

static int init(void **state) {
  (void)state;
  heap_sample_set(PERIOD, 20261201);
  if (threads_init(64) != 0 || live_init(64) != 0 || unwind_refresh() != 0)
    return -1;
  atomic_store(&sampler.region, region_create(1 << 16));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_estimated_without_bias),
      cmocka_unit_test(a_threads_first_allocation_is_sampled_as_any_other),
      cmocka_unit_test(a_thread_of_folio_is_not_sampled),
      cmocka_unit_test(an_allocation_within_a_hook_is_counted_as_lost),
      cmocka_unit_test(labels_go_with_the_sample),
  };
  return cmocka_run_group_tests(tests, init, NULL);
}
