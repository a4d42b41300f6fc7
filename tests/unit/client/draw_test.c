#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw.h"

/* The generator's published outputs for the seed 1234567; the bound leaves them as they are. */
static void test_reference_outputs(void **state) {
  (void)state;
  static const uint64_t expected[] = {
      UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),  UINT64_C(9817491932198370423),
      UINT64_C(4593380528125082431), UINT64_C(16408922859458223821),
  };
  struct draw draw = {.state = 1234567};
  for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
    assert_int_equal(draw_below(&draw, UINT64_MAX), expected[i]);
}

static void test_stays_below_the_bound(void **state) {
  (void)state;
  struct draw draw = {.state = 0};
  for (uint64_t bound = 1; bound != 0; bound *= 2) {
    for (int i = 0; i < 100; i++)
      assert_in_range(draw_below(&draw, bound), 0, bound - 1);
  }
}

/* With the bound 3 * 2^62, taking the remainder alone gives the lowest third half of all draws. */
static void test_has_no_modulo_bias(void **state) {
  (void)state;
  enum {
    DRAWS = 30000
  };
  const uint64_t third = UINT64_C(1) << 62;
  struct draw draw = {.state = 42};
  unsigned hits[3] = {0};
  for (int i = 0; i < DRAWS; i++)
    hits[draw_below(&draw, 3 * third) / third]++;
  for (int i = 0; i < 3; i++)
    assert_in_range(hits[i], DRAWS / 3 - 500, DRAWS / 3 + 500);
}

static void test_same_seed_same_sequence(void **state) {
  (void)state;
  struct draw one = {.state = 7};
  struct draw same = {.state = 7};
  struct draw other = {.state = 8};
  int differences = 0;
  for (int i = 0; i < 1000; i++) {
    uint64_t number = draw_below(&one, 4);
    assert_int_equal(number, draw_below(&same, 4));
    differences += number != draw_below(&other, 4);
  }
  assert_in_range(differences, 600, 900);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference_outputs),
      cmocka_unit_test(test_stays_below_the_bound),
      cmocka_unit_test(test_has_no_modulo_bias),
      cmocka_unit_test(test_same_seed_same_sequence),
  };
  return cmocka_run_group_tests_name("client/draw", tests, NULL, NULL);
}
