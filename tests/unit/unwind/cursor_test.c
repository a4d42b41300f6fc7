#include "cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct cursor over(const unsigned char *bytes, size_t size) {
  return (struct cursor){.begin = bytes, .at = bytes, .end = bytes + size, .address = 0x1000};
}

static size_t encode_uleb(uint64_t number, unsigned char *out) {
  size_t size = 0;
  do {
    out[size++] = (unsigned char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
    number >>= 7;
  } while (number != 0);
  return size;
}

static size_t encode_sleb(int64_t number, unsigned char *out) {
  for (size_t size = 0;;) {
    unsigned char byte = number & 0x7f;
    number >>= 7;
    bool done = (number == 0 && (byte & 0x40) == 0) || (number == -1 && (byte & 0x40) != 0);
    out[size++] = (unsigned char)(byte | (done ? 0 : 0x80));
    if (done)
      return size;
  }
}

static void numbers_of_variable_length_come_back(void **state) {
  (void)state;
  unsigned char bytes[16];
  uint64_t random = 1;
  for (unsigned i = 0; i < 20000; i++) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    uint64_t number = random >> (i % 64);
    struct cursor cursor = over(bytes, encode_uleb(number, bytes));
    assert_int_equal(cursor_uleb(&cursor), number);
    assert_ptr_equal(cursor.at, cursor.end);
    int64_t with_sign = (int64_t)random >> (i % 64);
    cursor = over(bytes, encode_sleb(with_sign, bytes));
    assert_int_equal(cursor_sleb(&cursor), with_sign);
    assert_ptr_equal(cursor.at, cursor.end);
    assert_false(cursor.failed);
  }
}

static void a_read_past_the_end_fails_for_good(void **state) {
  (void)state;
  const unsigned char bytes[] = {0x81, 0x82, 0x83};
  for (size_t size = 0; size <= sizeof(bytes); size++) {
    struct cursor cursor = over(bytes, size);
    cursor_uleb(&cursor);
    assert_true(cursor.failed);
    assert_int_equal(cursor_byte(&cursor), 0);
    assert_int_equal(cursor_number(&cursor, 1), 0);
    assert_true(cursor_part(&cursor, 0).failed);
    cursor = over(bytes, size);
    assert_int_equal(cursor_number(&cursor, 4), 0);
    assert_true(cursor.failed);
    cursor = over(bytes, size);
    assert_true(cursor_part(&cursor, UINT64_MAX).failed);
    assert_true(cursor.failed);
  }
}

static void parts_keep_their_address(void **state) {
  (void)state;
  const unsigned char bytes[] = {1, 2, 3, 4, 5, 6};
  struct cursor cursor = over(bytes, sizeof(bytes));
  cursor_byte(&cursor);
  struct cursor part = cursor_part(&cursor, 3);
  assert_int_equal(part.address, 0x1001);
  assert_int_equal(cursor_number(&part, 3), 0x040302);
  cursor_byte(&part);
  assert_true(part.failed);
  assert_int_equal(cursor_byte(&cursor), 5);
}

static void pointers_are_decoded(void **state) {
  (void)state;
  const unsigned char bytes[] = {0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const struct {
    uint8_t encoding;
    uintptr_t value;
    size_t size;
  } cases[] = {
      {0x00, (uintptr_t)-16, 8}, {0x02, 0xfff0, 2},         {0x03, 0xfffffff0, 4},
      {0x04, (uintptr_t)-16, 8}, {0x0a, (uintptr_t)-16, 2}, {0x0b, (uintptr_t)-16, 4},
      {0x0c, (uintptr_t)-16, 8}, {0x1a, 0x1000 - 16, 2},    {0x1b, 0x1000 - 16, 4},
      {0x3b, 0x5000 - 16, 4},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct cursor cursor = over(bytes, sizeof(bytes));
    assert_int_equal(cursor_pointer(&cursor, cases[i].encoding, 0x5000), cases[i].value);
    assert_int_equal(cursor.at - cursor.begin, cases[i].size);
    assert_false(cursor.failed);
  }
  const uint8_t refused[] = {0x05, 0x0d, 0x20, 0x40, 0x50, 0x70, 0x9b, 0xff};
  for (size_t i = 0; i < sizeof(refused); i++) {
    struct cursor cursor = over(bytes, sizeof(bytes));
    cursor_pointer(&cursor, refused[i], 0x5000);
    assert_true(cursor.failed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_variable_length_come_back),
      cmocka_unit_test(a_read_past_the_end_fails_for_good),
      cmocka_unit_test(parts_keep_their_address),
      cmocka_unit_test(pointers_are_decoded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
