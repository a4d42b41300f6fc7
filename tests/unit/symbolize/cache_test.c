#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

static const struct symbol *find(struct symbolizer *symbolizer, uint32_t number, const char *path,
                                 uintptr_t address) {
  struct symbol_object object = {.number = number, .path = path, .build_id = ""};
  return symbolizer_find(symbolizer, &object, address);
}

#define SHAPES FIXTURES "/shapes"

static void test_same_address_same_symbol(void **state) {
  (void)state;
  struct symbolizer *symbolizer = symbolizer_create(0);
  const struct symbol *symbols[256];
  uintptr_t start = fixture_symbol(SHAPES, "outer").start;
  for (size_t i = 0; i < 256; i++)
    symbols[i] = find(symbolizer, 1, SHAPES, start - 128 + i);
  size_t bytes = symbolizer_memory_bytes(symbolizer);
  for (size_t i = 0; i < 256; i++)
    assert_ptr_equal(find(symbolizer, 1, SHAPES, start - 128 + i), symbols[i]);
  assert_int_equal(symbolizer_memory_bytes(symbolizer), bytes);
  /* Texts are stored once. */
  assert_ptr_equal(symbols[129]->lines[0].file, symbols[128]->lines[0].file);
  symbolizer_destroy(symbolizer);
}

/* The file may be gone when an address is looked up again. */
static void test_cache_needs_no_file(void **state) {
  (void)state;
  char path[] = "/tmp/symbolize-cache-XXXXXX";
  int fd = mkstemp(path);
  assert_int_not_equal(fd, -1);
  close(fd);
  copy_file(SHAPES, path);
  struct symbolizer *symbolizer = symbolizer_create(0);
  uintptr_t start = fixture_symbol(SHAPES, "outer").start;
  const struct symbol *symbol = find(symbolizer, 1, path, start);
  assert_string_equal(symbol->lines[0].name, "outer");
  symbolizer_release_files(symbolizer);
  unlink(path);
  assert_ptr_equal(find(symbolizer, 1, path, start), symbol);
  assert_string_equal(symbol->lines[0].name, "outer");
  assert_false(find(symbolizer, 1, path, start + 1)->known);
  symbolizer_destroy(symbolizer);
}

static void test_files_are_opened_again(void **state) {
  (void)state;
  struct symbolizer *symbolizer = symbolizer_create(0);
  uintptr_t start = fixture_symbol(SHAPES, "outer").start;
  for (size_t i = 0; i < 4; i++) {
    const struct symbol *symbol = find(symbolizer, 1, SHAPES, start + i);
    assert_string_equal(symbol->lines[symbol->line_count - 1].name, "outer");
    symbolizer_release_files(symbolizer);
  }
  symbolizer_destroy(symbolizer);
}

/* The same address in two objects is two things: a number is never given twice. */
static void test_number_tells_objects_apart(void **state) {
  (void)state;
  struct symbolizer *symbolizer = symbolizer_create(0);
  uintptr_t start = fixture_symbol(SHAPES, "outer").start;
  assert_string_equal(find(symbolizer, 1, SHAPES, start)->lines[0].name, "outer");
  assert_unknown(find(symbolizer, 2, FIXTURES "/shapes_stripped", start), "[shapes_stripped]");
  assert_unknown(find(symbolizer, 3, "/nowhere/lib.so", start), "[lib.so]");
  assert_string_equal(find(symbolizer, 1, SHAPES, start)->lines[0].name, "outer");
  symbolizer_destroy(symbolizer);
}

static void test_full_cache_is_emptied(void **state) {
  (void)state;
  enum {
    MAX = 20,
    OBJECTS = 200,
    ADDRESSES = 7
  };
  struct symbolizer *symbolizer = symbolizer_create(MAX);
  uintptr_t start = fixture_symbol(SHAPES, "outer").start;
  size_t at_first = 0;
  for (uint32_t i = 0; i < OBJECTS * ADDRESSES; i++) {
    const struct symbol *symbol = find(symbolizer, i / ADDRESSES, SHAPES, start + i % ADDRESSES);
    assert_string_equal(symbol->lines[symbol->line_count - 1].name, "outer");
    if (i == MAX - 1)
      at_first = symbolizer_memory_bytes(symbolizer);
    assert_in_range(symbolizer_memory_bytes(symbolizer), 1, i < MAX ? SIZE_MAX : at_first);
  }
  symbolizer_destroy(symbolizer);
}

/* Libraries that come and go: each has a number of its own. */
static void test_many_objects(void **state) {
  (void)state;
  struct symbolizer *symbolizer = symbolizer_create(500);
  uintptr_t start = fixture_symbol(SHAPES, "outer").start;
  size_t most = 0;
  for (uint32_t number = 0; number < 2000; number++) {
    const char *path = number % 2 == 0 ? FIXTURES "/shapes_no_debug" : "/nowhere/plugin.so";
    const struct symbol *symbol = find(symbolizer, number, path, start);
    if (number % 2 == 1)
      assert_unknown(symbol, "[plugin.so]");
    if (symbolizer_memory_bytes(symbolizer) > most)
      most = symbolizer_memory_bytes(symbolizer);
  }
  assert_in_range(most, 1, 300000);
  symbolizer_destroy(symbolizer);
}

static void test_names_in_brackets(void **state) {
  (void)state;
  static const struct {
    const char *path;
    const char *name;
  } cases[] = {
      {"/usr/lib/libgrpc.so.29", "[libgrpc.so.29]"},
      {"/usr/lib/libx.so (deleted)", "[libx.so]"},
      {"[vsyscall]", "[vsyscall]"},
      {"//anon", "[anon]"},
      {"name", "[name]"},
      {"", "[]"},
  };
  struct symbolizer *symbolizer = symbolizer_create(0);
  for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    assert_unknown(find(symbolizer, i, cases[i].path, 1), cases[i].name);
  char path[600] = "/";
  memset(path + 1, 'x', sizeof(path) - 2);
  const struct symbol *symbol = find(symbolizer, 99, path, 1);
  assert_int_equal(strlen(symbol->lines[0].name), 255);
  symbolizer_destroy(symbolizer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_address_same_symbol),
      cmocka_unit_test(test_cache_needs_no_file),
      cmocka_unit_test(test_files_are_opened_again),
      cmocka_unit_test(test_number_tells_objects_apart),
      cmocka_unit_test(test_full_cache_is_emptied),
      cmocka_unit_test(test_many_objects),
      cmocka_unit_test(test_names_in_brackets),
  };
  return cmocka_run_group_tests_name("symbolize_cache", tests, NULL, NULL);
}
