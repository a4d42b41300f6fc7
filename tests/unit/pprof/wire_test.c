#include "wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static enum wire_step read_one(const char *bytes, size_t size, struct wire_field *out) {
  const uint8_t *at = (const uint8_t *)bytes;
  const uint8_t *end = at + size;
  enum wire_step step = wire_next(&at, end, out);
  if (step == WIRE_FIELD)
    assert_ptr_equal(at, end);
  return step;
}

static void test_varints(void **state) {
  (void)state;
  uint64_t random = 9;
  for (int i = 0; i < 100000; i++) {
    uint64_t value = random_next(&random) >> random_below(&random, 64);
    uint8_t bytes[1 + WIRE_VARINT_MAX] = {5 << 3};
    size_t size = 1 + wire_put_varint(value, bytes + 1);
    struct wire_field field;
    assert_int_equal(read_one((const char *)bytes, size, &field), WIRE_FIELD);
    assert_int_equal(field.number, 5);
    assert_int_equal(field.type, WIRE_VARINT);
    assert_int_equal(field.value, value);
    for (size_t cut = 1; cut < size; cut++)
      assert_int_equal(read_one((const char *)bytes, cut, &field), WIRE_DAMAGED);
  }
}

static void test_bytes(void **state) {
  (void)state;
  char bytes[2 * WIRE_VARINT_MAX + 300];
  for (size_t size = 0; size <= 300; size += 20) {
    struct wire_field field;
    size_t head = wire_put_bytes_head(1000, size, (uint8_t *)bytes);
    memset(bytes + head, 'x', size);
    assert_int_equal(read_one(bytes, head + size, &field), WIRE_FIELD);
    assert_int_equal(field.number, 1000);
    assert_int_equal(field.type, WIRE_BYTES);
    assert_int_equal(field.size, size);
    assert_ptr_equal(field.bytes, bytes + head);
    for (size_t cut = 1; cut < head + size; cut++)
      assert_int_equal(read_one(bytes, cut, &field), WIRE_DAMAGED);
  }
}

static void test_fixed_numbers(void **state) {
  (void)state;
  struct wire_field field;
  assert_int_equal(read_one("\x09\x01\x02\x03\x04\x05\x06\x07\xff", 9, &field), WIRE_FIELD);
  assert_int_equal(field.value, 0xff07060504030201);
  assert_int_equal(read_one("\x0d\x01\x02\x03\xff", 5, &field), WIRE_FIELD);
  assert_int_equal(field.value, 0xff030201);
  assert_int_equal(read_one("\x09\x01\x02\x03\x04\x05\x06\x07", 8, &field), WIRE_DAMAGED);
  assert_int_equal(read_one("\x0d\x01\x02\x03", 4, &field), WIRE_DAMAGED);
}

static void test_what_is_not_the_format(void **state) {
  (void)state;
  struct wire_field field;
  assert_int_equal(read_one("", 0, &field), WIRE_END);
  assert_int_equal(read_one("\x00\x01", 2, &field), WIRE_DAMAGED); /* field 0 */
  assert_int_equal(read_one("\x0b", 1, &field), WIRE_DAMAGED);     /* a group */
  assert_int_equal(read_one("\x0c", 1, &field), WIRE_DAMAGED);
  assert_int_equal(read_one("\x0e", 1, &field), WIRE_DAMAGED);
  assert_int_equal(read_one("\x0f", 1, &field), WIRE_DAMAGED);
  /* A field number of 30 bits, and numbers of more than 64. */
  assert_int_equal(read_one("\x80\x80\x80\x80\x10\x01", 6, &field), WIRE_DAMAGED);
  assert_int_equal(read_one("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, &field),
                   WIRE_DAMAGED);
  assert_int_equal(read_one("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, &field),
                   WIRE_DAMAGED);
  assert_int_equal(read_one("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, &field),
                   WIRE_FIELD);
  assert_int_equal(field.value, UINT64_MAX);
  /* A length beyond all memory. */
  assert_int_equal(read_one("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 12, &field),
                   WIRE_DAMAGED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_varints),
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_fixed_numbers),
      cmocka_unit_test(test_what_is_not_the_format),
  };
  return cmocka_run_group_tests_name("pprof_wire", tests, NULL, NULL);
}
