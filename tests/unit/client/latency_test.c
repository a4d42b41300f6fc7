#include "client/latency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Each test has two histograms, empty at its start. */
struct pair {
  struct latency one;
  struct latency other;
};

static int pair_setup(void **state) {
  *state = calloc(1, sizeof(struct pair));
  return *state == NULL ? -1 : 0;
}

static int pair_teardown(void **state) {
  free(*state);
  return 0;
}

/* Spread over all magnitudes that int64_t has: a random number shifted by a random distance. */
static int64_t random_duration_ns(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  int shift = 1 + (int)(*seed >> 58) % 63;
  uint64_t number = *seed ^ (*seed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return (int64_t)(number >> shift);
}

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left;
  int64_t b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static void assert_close_above(int64_t estimate, int64_t exact) {
  assert_in_range(estimate, exact, (uint64_t)exact + (uint64_t)exact / 32);
}

static void test_quantiles_match_sorted_data(void **state) {
  struct latency *latency = &((struct pair *)*state)->one;
  enum {
    MAX_COUNT = 2000
  };
  static int64_t sorted[MAX_COUNT];
  uint64_t seed = 1;
  for (size_t count = 1; count <= MAX_COUNT; count = count * 3 / 2 + 1) {
    memset(latency, 0, sizeof(*latency));
    for (size_t i = 0; i < count; i++) {
      sorted[i] = random_duration_ns(&seed);
      latency_record(latency, sorted[i]);
    }
    qsort(sorted, count, sizeof(sorted[0]), compare);
    assert_int_equal(latency->count, count);
    assert_int_equal(latency->max_ns, sorted[count - 1]);
    /* 64ths are exact in binary, and so are their products. */
    for (size_t share = 0; share <= 64; share++) {
      size_t rank = (share * count + 63) / 64;
      size_t index = rank == 0 ? 0 : rank - 1;
      assert_close_above(latency_quantile_ns(latency, (double)share / 64), sorted[index]);
    }
  }
}

static void test_usual_quantiles_take_the_nearest_rank(void **state) {
  struct latency *latency = &((struct pair *)*state)->one;
  for (int64_t ns = 1; ns <= 50; ns++)
    latency_record(latency, ns);
  assert_int_equal(latency_quantile_ns(latency, 0), 1);
  assert_int_equal(latency_quantile_ns(latency, 0.5), 25);
  assert_int_equal(latency_quantile_ns(latency, 0.9), 45);
  assert_int_equal(latency_quantile_ns(latency, 0.99), 50);
  assert_int_equal(latency_quantile_ns(latency, 1), 50);
}

static void test_every_bucket_edge(void **state) {
  struct latency *latency = &((struct pair *)*state)->one;
  for (int exponent = 0; exponent < 63; exponent++) {
    for (int64_t offset = -1; offset <= 1; offset++) {
      int64_t exact = (INT64_C(1) << exponent) + offset;
      memset(latency, 0, sizeof(*latency));
      latency_record(latency, exact);
      latency_record(latency, INT64_MAX);
      assert_close_above(latency_quantile_ns(latency, 0.5), exact);
    }
  }
}

static void test_below_64_ns_is_exact(void **state) {
  struct latency *latency = &((struct pair *)*state)->one;
  for (int64_t exact = 0; exact < 64; exact++) {
    memset(latency, 0, sizeof(*latency));
    latency_record(latency, exact);
    latency_record(latency, 1000);
    assert_int_equal(latency_quantile_ns(latency, 0.5), exact);
  }
}

static void test_extremes(void **state) {
  struct latency *latency = &((struct pair *)*state)->one;
  latency_record(latency, INT64_MIN);
  latency_record(latency, -1);
  latency_record(latency, 0);
  assert_int_equal(latency->count, 3);
  assert_int_equal(latency->max_ns, 0);
  assert_int_equal(latency_quantile_ns(latency, 1), 0);
  latency_record(latency, INT64_MAX);
  assert_int_equal(latency->max_ns, INT64_MAX);
  assert_int_equal(latency_quantile_ns(latency, 1), INT64_MAX);
  assert_int_equal(latency_quantile_ns(latency, 0.75), 0);
}

static void test_quantile_of_nothing_is_zero(void **state) {
  const struct latency *latency = &((struct pair *)*state)->one;
  assert_int_equal(latency_quantile_ns(latency, 0), 0);
  assert_int_equal(latency_quantile_ns(latency, 0.5), 0);
  assert_int_equal(latency_quantile_ns(latency, 1), 0);
}

static void test_quantile_outside_its_range_is_clamped(void **state) {
  struct latency *latency = &((struct pair *)*state)->one;
  latency_record(latency, 3);
  latency_record(latency, 5);
  assert_int_equal(latency_quantile_ns(latency, -1), 3);
  assert_int_equal(latency_quantile_ns(latency, 2), 5);
}

static void test_the_maximum_bounds_the_quantile(void **state) {
  struct latency *latency = &((struct pair *)*state)->one;
  latency_record(latency, 1000001);
  assert_int_equal(latency_quantile_ns(latency, 0.5), 1000001);
}

static void test_merge_equals_recording_all(void **state) {
  struct pair *pair = *state;
  struct latency *part = calloc(1, sizeof(*part));
  assert_non_null(part);
  uint64_t seed = 5;
  for (int i = 0; i < 1000; i++) {
    int64_t duration_ns = random_duration_ns(&seed);
    latency_record(&pair->other, duration_ns);
    latency_record(i % 3 == 0 ? part : &pair->one, duration_ns);
  }
  latency_merge(&pair->one, part);
  free(part);
  assert_memory_equal(&pair->one, &pair->other, sizeof(struct latency));
}

#define pair_test(function) cmocka_unit_test_setup_teardown(function, pair_setup, pair_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      pair_test(test_quantiles_match_sorted_data),
      pair_test(test_usual_quantiles_take_the_nearest_rank),
      pair_test(test_every_bucket_edge),
      pair_test(test_below_64_ns_is_exact),
      pair_test(test_extremes),
      pair_test(test_quantile_of_nothing_is_zero),
      pair_test(test_quantile_outside_its_range_is_clamped),
      pair_test(test_the_maximum_bounds_the_quantile),
      pair_test(test_merge_equals_recording_all),
  };
  return cmocka_run_group_tests_name("client/latency", tests, NULL, NULL);
}
