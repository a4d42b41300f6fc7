#include "aggregate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct module module_one = {.number = 1};
static const struct module module_two = {.number = 2};

static struct bucket_key key_of(const struct frame *frames, uint16_t depth) {
  return (struct bucket_key){.frames = frames, .depth = depth};
}

static void equal_keys_share_a_bucket(void **state) {
  (void)state;
  struct aggregate *aggregate = aggregate_create(100);
  const struct frame frames[] = {{&module_one, 10}, {&module_two, 20}};
  const struct frame copy[] = {{&module_one, 10}, {&module_two, 20}};
  struct bucket_key key = key_of(frames, 2);
  struct bucket_key same = key_of(copy, 2);
  uint32_t number = aggregate_find(aggregate, &key);
  assert_int_equal(number, 1);
  assert_int_equal(aggregate_find(aggregate, &same), number);
  assert_int_equal(aggregate_count(aggregate), 2);
  aggregate_destroy(aggregate);
}

static void whatever_differs_has_a_bucket_of_its_own(void **state) {
  (void)state;
  struct aggregate *aggregate = aggregate_create(100);
  const struct frame frames[] = {{&module_one, 10}, {&module_two, 20}};
  const struct frame swapped[] = {{&module_two, 20}, {&module_one, 10}};
  const struct frame reloaded[] = {{&module_two, 10}, {&module_two, 20}};
  struct bucket_key keys[] = {key_of(frames, 2),   key_of(frames, 1), key_of(swapped, 2),
                              key_of(reloaded, 2), key_of(frames, 0), key_of(frames, 2),
                              key_of(frames, 2),   key_of(frames, 2)};
  keys[5].size = 8;
  keys[6].end = 1;
  keys[7].labels[3] = (struct label_pair){1, 2};
  enum {
    KEYS = sizeof(keys) / sizeof(keys[0])
  };
  for (uint32_t i = 0; i < KEYS; i++)
    assert_int_equal(aggregate_find(aggregate, &keys[i]), i + 1);
  for (uint32_t i = 0; i < KEYS; i++)
    assert_int_equal(aggregate_find(aggregate, &keys[i]), i + 1);
  aggregate_destroy(aggregate);
}

static void buckets_stay_findable_while_the_table_grows(void **state) {
  (void)state;
  enum {
    STACKS = 20000
  };
  struct aggregate *aggregate = aggregate_create(STACKS);
  for (uintptr_t i = 0; i < STACKS; i++) {
    struct frame frames[300];
    uint16_t depth = (uint16_t)(i % 300);
    for (uint16_t frame = 0; frame < depth; frame++)
      frames[frame] = (struct frame){&module_one, i + frame};
    struct bucket_key key = key_of(frames, depth);
    key.size = i;
    uint32_t number = aggregate_find(aggregate, &key);
    assert_int_equal(number, i + 1);
    aggregate_at(aggregate, number)->values[0] += 1;
    assert_int_equal(aggregate_find(aggregate, &key), number);
  }
  for (uint32_t i = 1; i <= STACKS; i++) {
    const struct bucket *bucket = aggregate_at(aggregate, i);
    assert_int_equal(bucket->key.depth, (i - 1) % 300);
    assert_true(bucket->values[0] == 1);
    for (uint16_t frame = 0; frame < bucket->key.depth; frame++)
      assert_int_equal(bucket->key.frames[frame].address, i - 1 + frame);
  }
  aggregate_destroy(aggregate);
}

static void past_the_bound_bucket_0_takes_the_rest(void **state) {
  (void)state;
  struct aggregate *aggregate = aggregate_create(3);
  for (uintptr_t i = 1; i <= 10; i++) {
    const struct frame frame = {&module_one, i};
    struct bucket_key key = key_of(&frame, 1);
    assert_int_equal(aggregate_find(aggregate, &key), i <= 3 ? i : 0);
  }
  aggregate_destroy(aggregate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_keys_share_a_bucket),
      cmocka_unit_test(whatever_differs_has_a_bucket_of_its_own),
      cmocka_unit_test(buckets_stay_findable_while_the_table_grows),
      cmocka_unit_test(past_the_bound_bucket_0_takes_the_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
