/*
 * Known mixes of allocations, estimated 20 times: each estimate within 4 standard errors, their
 * mean within 1 %, and a live heap of exactly zero when all is freed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "folio/folio.h"
#include "measured.h"
#include "pprof/reader.h"

#define RUNS 20
#define PERIOD 16384

struct mix {
  size_t size;
  uint64_t count;
};

/* From far below the period to far above it. */
static const struct mix mixes[] = {
    {16, 8000000}, {100, 2000000}, {1000, 300000}, {20000, 8000}, {1 << 20, 200}};
enum {
  MIXES = sizeof(mixes) / sizeof(mixes[0])
};

/* One function a mix, so that a stack tells which it is. */
// NOLINTBEGIN(bugprone-macro-parentheses): a function's name
#define ALLOCATES(name)                                                                            \
  __attribute__((noinline)) static void *name(size_t size) {                                       \
    void *volatile object = malloc(size);                                                          \
    return object;                                                                                 \
  }
// NOLINTEND(bugprone-macro-parentheses)
ALLOCATES(allocate_0)
ALLOCATES(allocate_1)
ALLOCATES(allocate_2)
ALLOCATES(allocate_3)
ALLOCATES(allocate_4)

static void *(*const allocators[MIXES])(size_t size) = {allocate_0, allocate_1, allocate_2,
                                                        allocate_3, allocate_4};
static const char *const names[MIXES] = {"allocate_0", "allocate_1", "allocate_2", "allocate_3",
                                         "allocate_4"};

/* Frees nine of ten at once, and keeps the tenth until the end of the run. */
static uint64_t run_mix(int mix, void **kept) {
  uint64_t kept_count = 0;
  for (uint64_t i = 0; i < mixes[mix].count; i++) {
    void *object = allocators[mix](mixes[mix].size);
    assert_non_null(object);
    if (i % 10 == 0)
      kept[kept_count++] = object;
    else
      free(object);
  }
  return kept_count;
}

/* Standard error of the estimated number of `count` objects. */
static double standard_error(size_t size, double count) {
  double probability = -expm1(-(double)size / PERIOD);
  return sqrt(count * (1 - probability) / probability);
}

static void assert_estimate(const char *what, const char *name, double estimate, double count,
                            double error) {
  /* Values are whole numbers: half of one may be lost a bucket. */
  if (fabs(estimate - count) > 4 * error + 1)
    fail_msg("%s of %s: %.0f, in truth %.0f, standard error %.1f", what, name, estimate, count,
             error);
}

static void estimates_have_no_bias_and_zero_is_zero(void **state) {
  (void)state;
  static void *kept[MIXES][800000];
  double sums[MIXES] = {0};
  for (int run = 0; run < RUNS; run++) {
    uint64_t kept_counts[MIXES];
    struct folio_session *session = measured_start(FOLIO_HEAP, 0);
    for (int mix = 0; mix < MIXES; mix++)
      kept_counts[mix] = run_mix(mix, kept[mix]);
    struct pprof_profile *profile = measured_stop(session);
    for (int mix = 0; mix < MIXES; mix++) {
      size_t size = mixes[mix].size;
      double count = (double)mixes[mix].count;
      double estimate = (double)measured_under(profile, "alloc_objects", names[mix]);
      double live = (double)measured_under(profile, "inuse_objects", names[mix]);
      double live_bytes = (double)measured_under(profile, "inuse_space", names[mix]);
      sums[mix] += estimate;
      assert_estimate("allocated objects", names[mix], estimate, count,
                      standard_error(size, count));
      assert_estimate("live objects", names[mix], live, (double)kept_counts[mix],
                      standard_error(size, (double)kept_counts[mix]));
      assert_true(fabs(live_bytes - live * (double)size) <= (double)size);
      for (uint64_t i = 0; i < kept_counts[mix]; i++)
        free(kept[mix][i]);
    }
    pprof_profile_free(profile);
    profile = measured_snapshot(FOLIO_HEAP);
    for (int mix = 0; mix < MIXES; mix++) {
      assert_int_equal(measured_under(profile, "inuse_objects", names[mix]), 0);
      assert_int_equal(measured_under(profile, "inuse_space", names[mix]), 0);
    }
    pprof_profile_free(profile);
  }
  struct folio_stats stats = {.size = sizeof(stats)};
  assert_int_equal(folio_stats(&stats), FOLIO_OK);
  assert_int_equal(
      stats.lost_buffer_full + stats.lost_no_thread + stats.lost_nested + stats.lost_live_full, 0);
  for (int mix = 0; mix < MIXES; mix++) {
    double bias = sums[mix] / RUNS / (double)mixes[mix].count - 1;
    print_message("mean bias at %zu bytes: %+.4f %%\n", mixes[mix].size, bias * 100);
    assert_true(fabs(bias) < 0.01);
  }
}

__attribute__((noinline)) static void *grow(void *object, size_t size) {
  void *volatile grown = realloc(object, size);
  return grown;
}

static void a_reallocated_object_is_a_new_one(void **state) {
  (void)state;
  enum {
    OBJECTS = 2000
  };
  static void *objects[OBJECTS];
  struct folio_session *session = measured_start(FOLIO_HEAP, 0);
  for (int i = 0; i < OBJECTS; i++) {
    for (size_t size = 5000; size <= 40000; size *= 2)
      objects[i] = grow(objects[i], size);
  }
  struct pprof_profile *profile = measured_stop(session);
  double live = (double)measured_under(profile, "inuse_space", "grow");
  double allocated = (double)measured_under(profile, "alloc_objects", "grow");
  double error = 0;
  for (size_t size = 5000; size <= 40000; size *= 2)
    error += pow(standard_error(size, OBJECTS), 2);
  assert_estimate("reallocations", "grow", allocated, 4 * OBJECTS, sqrt(error));
  assert_estimate("live bytes", "grow", live, OBJECTS * 40000.0,
                  standard_error(40000, OBJECTS) * 40000);
  pprof_profile_free(profile);
  for (int i = 0; i < OBJECTS; i++)
    free(objects[i]);
  profile = measured_snapshot(FOLIO_HEAP);
  assert_int_equal(measured_under(profile, "inuse_space", "grow"), 0);
  pprof_profile_free(profile);
}

static void every_way_to_allocate_is_seen(void **state) {
  (void)state;
  void *aligned = NULL;
  struct folio_session *session = measured_start(FOLIO_HEAP, 0);
  enum {
    BIG = 1 << 22
  };
  void *objects[] = {malloc(BIG), calloc(4, BIG / 4), realloc(NULL, BIG), aligned_alloc(64, BIG),
                     reallocarray(NULL, 4, BIG / 4)};
  enum {
    OBJECTS = sizeof(objects) / sizeof(objects[0])
  };
  assert_int_equal(posix_memalign(&aligned, 4096, BIG), 0);
  struct pprof_profile *profile = measured_stop(session);
  assert_int_equal(measured_under(profile, "inuse_space", "every_way_to_allocate_is_seen"),
                   (OBJECTS + 1) * BIG);
  pprof_profile_free(profile);
  for (int i = 0; i < OBJECTS; i++)
    free(objects[i]);
  free(aligned);
}

static void cumulative_values_never_fall(void **state) {
  (void)state;
  int64_t bytes = 0;
  for (int i = 0; i < 10; i++) {
    free(allocate_3(1 << 20));
    struct pprof_profile *profile = measured_snapshot(FOLIO_ALLOCS);
    int64_t now = measured_total(profile, "alloc_space");
    assert_true(now >= bytes + (1 << 20));
    assert_string_equal(profile->header.default_sample_type, "alloc_space");
    bytes = now;
    pprof_profile_free(profile);
  }
}

static int start_folio(void **state) {
  (void)state;
  /* Far more samples than anybody takes: with room for all of them, so that none is lost. */
  const struct folio_options options = {.size = sizeof(options),
                                        .heap = true,
                                        .heap_period = PERIOD,
                                        .seed = 20261201,
                                        .buffer_bytes = 64 << 20,
                                        .max_live = 400000};
  struct folio_error error;
  if (folio_start(&options, &error) == FOLIO_OK)
    return 0;
  print_error("%s\n", error.message);
  return -1;
}

static int stop_folio(void **state) {
  (void)state;
  folio_stop();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_have_no_bias_and_zero_is_zero),
      cmocka_unit_test(a_reallocated_object_is_a_new_one),
      cmocka_unit_test(every_way_to_allocate_is_seen),
      cmocka_unit_test(cumulative_values_never_fall),
  };
  return cmocka_run_group_tests(tests, start_folio, stop_folio);
}
