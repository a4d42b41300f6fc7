#include "intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static void assert_entry(const struct intern *intern, uint32_t number, const void *bytes,
                         size_t size) {
  size_t stored;
  const uint8_t *at = intern_at(intern, number, &stored);
  assert_int_equal(stored, size);
  assert_memory_equal(at, bytes, size);
}

/* Whatever comes, and however often: the number is that of its first coming. */
static void test_numbers_are_stable(void **state) {
  (void)state;
  enum {
    KINDS = 5000
  };
  static uint32_t numbers[KINDS];
  static bool seen[KINDS];
  struct intern intern;
  uint64_t random = 11;
  uint32_t count = 0;
  intern_init(&intern);
  for (size_t i = 0; i < 20L * KINDS; i++) {
    size_t kind = random_below(&random, KINDS);
    char text[64];
    int length = snprintf(text, sizeof(text), "%zu:%.*s", kind, (int)(kind % 40),
                          "........................................");
    uint32_t number = intern_add(&intern, text, (size_t)length);
    if (!seen[kind]) {
      assert_int_equal(number, count);
      numbers[kind] = count++;
      seen[kind] = true;
    }
    assert_int_equal(number, numbers[kind]);
    assert_entry(&intern, number, text, (size_t)length);
  }
  assert_int_equal(intern.count, count);
  assert_false(intern.failed);
  intern_fini(&intern);
}

static void test_similar_bytes_are_different(void **state) {
  (void)state;
  struct intern intern;
  intern_init(&intern);
  assert_int_equal(intern_add(&intern, "", 0), 0);
  assert_int_equal(intern_add(&intern, "\0", 1), 1);
  assert_int_equal(intern_add(&intern, "\0\0", 2), 2);
  assert_int_equal(intern_add(&intern, "12345678", 8), 3);
  assert_int_equal(intern_add(&intern, "12345678\0", 9), 4);
  assert_int_equal(intern_add(&intern, NULL, 0), 0);
  assert_int_equal(intern_add(&intern, "\0\0", 2), 2);
  intern_fini(&intern);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_are_stable),
      cmocka_unit_test(test_similar_bytes_are_different),
  };
  return cmocka_run_group_tests_name("pprof_intern", tests, NULL, NULL);
}
