#include "arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_pieces_do_not_overlap(void **state) {
  (void)state;
  enum {
    COUNT = 2000
  };
  struct pprof_arena arena;
  unsigned char *pieces[COUNT];
  pprof_arena_init(&arena, (size_t)64 << 20);
  for (size_t i = 0; i < COUNT; i++) {
    size_t size = i % 100 == 0 ? 20000 : i % 64;
    pieces[i] = pprof_arena_take(&arena, size);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % 16, 0);
    memset(pieces[i], (int)(i % 251), size);
  }
  for (size_t i = 0; i < COUNT; i++) {
    size_t size = i % 100 == 0 ? 20000 : i % 64;
    for (size_t j = 0; j < size; j++)
      assert_int_equal(pieces[i][j], i % 251);
  }
  pprof_arena_fini(&arena);
}

static void test_budget(void **state) {
  (void)state;
  struct pprof_arena arena;
  pprof_arena_init(&arena, 1000000);
  assert_non_null(pprof_arena_take(&arena, 900000));
  assert_false(arena.exhausted);
  assert_null(pprof_arena_take(&arena, 900000));
  assert_true(arena.exhausted);
  assert_non_null(pprof_arena_take(&arena, 100)); /* what is left serves small pieces */
  pprof_arena_fini(&arena);
}

static void test_sizes_that_overflow(void **state) {
  (void)state;
  struct pprof_arena arena;
  pprof_arena_init(&arena, SIZE_MAX);
  assert_null(pprof_arena_take(&arena, SIZE_MAX));
  assert_true(arena.exhausted);
  arena.exhausted = false;
  assert_null(pprof_arena_take_array(&arena, SIZE_MAX / 2, 8));
  assert_true(arena.exhausted);
  pprof_arena_fini(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces_do_not_overlap),
      cmocka_unit_test(test_budget),
      cmocka_unit_test(test_sizes_that_overflow),
  };
  return cmocka_run_group_tests_name("pprof_arena", tests, NULL, NULL);
}
