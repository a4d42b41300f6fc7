#include "text_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Equal texts have one place, which never moves. */
static void test_places_stay(void **state) {
  (void)state;
  enum {
    COUNT = 20000
  };
  static const char *places[COUNT];
  struct text_pool pool = {0};
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT; i++) {
      char text[64];
      int length = snprintf(text, sizeof(text), "function_%d(int)", i);
      const char *place = text_pool_add(&pool, text, (size_t)length);
      assert_non_null(place);
      assert_string_equal(place, text);
      if (round == 0)
        places[i] = place;
      assert_ptr_equal(place, places[i]);
    }
  }
  assert_int_equal(pool.count, COUNT);
  assert_in_range(text_pool_memory_bytes(&pool), COUNT * 20, COUNT * 100);
  text_pool_clear(&pool);
  assert_int_equal(text_pool_memory_bytes(&pool), 0);
}

static void test_length_counts(void **state) {
  (void)state;
  struct text_pool pool = {0};
  const char *empty = text_pool_add(&pool, "abc", 0);
  const char *two = text_pool_add(&pool, "abc", 2);
  assert_string_equal(empty, "");
  assert_string_equal(two, "ab");
  assert_ptr_equal(text_pool_add(&pool, "ab", 2), two);
  assert_ptr_equal(text_pool_add(&pool, "", 0), empty);
  text_pool_clear(&pool);
}

/* Longer than a chunk of the arena. */
static void test_long_text(void **state) {
  (void)state;
  static char text[100001];
  struct text_pool pool = {0};
  memset(text, 'x', sizeof(text) - 1);
  const char *place = text_pool_add(&pool, text, sizeof(text) - 1);
  assert_non_null(place);
  assert_memory_equal(place, text, sizeof(text));
  assert_string_equal(text_pool_add(&pool, "short", 5), "short");
  text_pool_clear(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places_stay),
      cmocka_unit_test(test_length_counts),
      cmocka_unit_test(test_long_text),
  };
  return cmocka_run_group_tests_name("symbolize_text_pool", tests, NULL, NULL);
}
