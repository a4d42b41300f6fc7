#include "interval_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t random_below(uint64_t *state, uint64_t below) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state % below;
}

/* By looking at each: the latest start, then the shortest, then the lowest rank. */
static const struct interval *find_slowly(const struct interval *items, size_t count,
                                          uint64_t address) {
  const struct interval *best = NULL;
  for (size_t i = 0; i < count; i++) {
    const struct interval *item = &items[i];
    if (address < item->start || address >= item->end)
      continue;
    if (best == NULL || item->start > best->start ||
        (item->start == best->start &&
         (item->end < best->end || (item->end == best->end && item->rank < best->rank))))
      best = item;
  }
  return best;
}

static void test_random_ranges(void **state) {
  (void)state;
  enum {
    COUNT = 120,
    SPAN = 200
  };
  uint64_t random = 77;
  for (int round = 0; round < 300; round++) {
    struct interval_table table = {0};
    struct interval items[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
      uint64_t start = random_below(&random, SPAN);
      uint64_t length = random_below(&random, round % 2 == 0 ? 10 : SPAN);
      items[i] = (struct interval){
          .start = start, .end = start + length, .rank = (uint32_t)random_below(&random, 3)};
      interval_table_add(&table, items[i].start, items[i].end, items[i].rank, NULL);
    }
    interval_table_seal(&table);
    assert_false(table.failed);
    for (uint64_t address = 0; address < 2 * SPAN; address++) {
      const struct interval *expected = find_slowly(items, COUNT, address);
      const struct interval *found = interval_table_find(&table, address);
      assert_int_equal(found != NULL, expected != NULL);
      if (expected != NULL) {
        assert_int_equal(found->start, expected->start);
        assert_int_equal(found->end, expected->end);
        assert_int_equal(found->rank, expected->rank);
      }
      uint32_t from = interval_table_from(&table, address);
      assert_true(from == 0 || table.items[from - 1].start < address);
      assert_true(from == table.count || table.items[from].start >= address);
    }
    interval_table_fini(&table);
  }
}

static void test_edges(void **state) {
  (void)state;
  struct interval_table table = {0};
  interval_table_seal(&table);
  assert_null(interval_table_find(&table, 0));
  interval_table_add(&table, 5, 5, 0, NULL);
  interval_table_add(&table, 9, 5, 0, NULL);
  assert_int_equal(table.count, 0);
  interval_table_add(&table, 0, 1, 0, NULL);
  interval_table_add(&table, UINT64_MAX - 2, UINT64_MAX, 0, NULL);
  interval_table_seal(&table);
  assert_non_null(interval_table_find(&table, 0));
  assert_null(interval_table_find(&table, 1));
  assert_non_null(interval_table_find(&table, UINT64_MAX - 1));
  assert_null(interval_table_find(&table, UINT64_MAX));
  interval_table_fini(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_ranges),
      cmocka_unit_test(test_edges),
  };
  return cmocka_run_group_tests_name("symbolize_interval_table", tests, NULL, NULL);
}
