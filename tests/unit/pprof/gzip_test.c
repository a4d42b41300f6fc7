#include "gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

enum {
  PLENTY = 10000000
};

struct packed {
  uint8_t *bytes;
  size_t size;
};

static struct packed compress_in_parts(const uint8_t *bytes, size_t size, size_t part) {
  struct gzip_writer writer;
  void *out = NULL;
  struct packed packed = {0};
  gzip_writer_init(&writer);
  for (size_t at = 0; at < size; at += part)
    gzip_writer_add(&writer, bytes + at, size - at < part ? size - at : part);
  assert_int_equal(gzip_writer_finish(&writer, &out, &packed.size), 0);
  packed.bytes = out;
  return packed;
}

static void assert_expands_to(const struct packed *packed, const uint8_t *bytes, size_t size) {
  struct pprof_error error = {""};
  uint8_t *out = NULL;
  size_t out_size = 0;
  int failed = gzip_expand(packed->bytes, packed->size, PLENTY, &out, &out_size, &error);
  assert_string_equal(error.message, "");
  assert_int_equal(failed, 0);
  assert_int_equal(out_size, size);
  assert_memory_equal(out, bytes, size);
  free(out);
}

static void assert_refused(const void *bytes, size_t size, size_t max_bytes, const char *message) {
  struct pprof_error error = {""};
  uint8_t *out = NULL;
  size_t out_size = 0;
  assert_int_equal(gzip_expand(bytes, size, max_bytes, &out, &out_size, &error), -1);
  assert_null(out);
  assert_string_equal(error.message, message);
}

/* Sizes about those of the buffers, of bytes that compress and of bytes that do not. */
static void test_round_trip(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 65535, 65536, 65537, 131072, 400000};
  uint64_t random = 7;
  uint8_t *bytes = malloc(400000);
  assert_non_null(bytes);
  for (size_t mode = 0; mode < 2; mode++) {
    for (size_t i = 0; i < 400000; i++)
      bytes[i] = mode == 0 ? (uint8_t)(i / 1000) : (uint8_t)random_next(&random);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
      struct packed packed = compress_in_parts(bytes, sizes[i], 977);
      assert_true(gzip_is(packed.bytes, packed.size));
      assert_expands_to(&packed, bytes, sizes[i]);
      free(packed.bytes);
    }
  }
  free(bytes);
}

/* No time and no name in it. */
static void test_header_is_the_same_always(void **state) {
  (void)state;
  struct packed packed = compress_in_parts((const uint8_t *)"x", 1, 1);
  const uint8_t header[8] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0};
  assert_memory_equal(packed.bytes, header, sizeof(header));
  free(packed.bytes);
}

static void test_truncated_anywhere(void **state) {
  (void)state;
  uint8_t bytes[3000];
  uint64_t random = 3;
  for (size_t i = 0; i < sizeof(bytes); i++)
    bytes[i] = (uint8_t)(random_next(&random) % 50);
  struct packed packed = compress_in_parts(bytes, sizeof(bytes), sizeof(bytes));
  for (size_t size = 2; size < packed.size; size++)
    assert_refused(packed.bytes, size, PLENTY, "the gzip data is truncated");
  free(packed.bytes);
}

static void test_damaged(void **state) {
  (void)state;
  struct packed packed = compress_in_parts((const uint8_t *)"hello, hello, hello", 19, 19);
  packed.bytes[packed.size - 6] ^= 1;
  assert_refused(packed.bytes, packed.size, PLENTY,
                 "the gzip data is damaged: incorrect data check");
  free(packed.bytes);
}

static void test_garbage_behind(void **state) {
  (void)state;
  struct packed packed = compress_in_parts((const uint8_t *)"hello", 5, 5);
  uint8_t bytes[100];
  memcpy(bytes, packed.bytes, packed.size);
  memcpy(bytes + packed.size, "garbage", 7);
  assert_refused(bytes, packed.size + 7, PLENTY, "7 bytes of garbage after the gzip data");
  free(packed.bytes);
}

static void test_members_add_up(void **state) {
  (void)state;
  struct packed one = compress_in_parts((const uint8_t *)"hello ", 6, 6);
  struct packed two = compress_in_parts((const uint8_t *)"world", 5, 5);
  uint8_t bytes[100];
  memcpy(bytes, one.bytes, one.size);
  memcpy(bytes + one.size, two.bytes, two.size);
  struct packed both = {bytes, one.size + two.size};
  assert_expands_to(&both, (const uint8_t *)"hello world", 11);
  free(one.bytes);
  free(two.bytes);
}

static void test_bomb_is_refused(void **state) {
  (void)state;
  size_t size = (size_t)8 << 20;
  uint8_t *zeros = calloc(1, size);
  assert_non_null(zeros);
  struct packed packed = compress_in_parts(zeros, size, size);
  assert_in_range(packed.size, 0, size / 200);
  assert_refused(packed.bytes, packed.size, 1000000,
                 "over the limit of 1000000 bytes when decompressed");
  assert_refused(packed.bytes, packed.size, size - 1,
                 "over the limit of 8388607 bytes when decompressed");
  struct pprof_error error;
  uint8_t *out;
  size_t out_size;
  assert_int_equal(gzip_expand(packed.bytes, packed.size, size, &out, &out_size, &error), 0);
  assert_int_equal(out_size, size);
  free(out);
  free(zeros);
  free(packed.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),         cmocka_unit_test(test_header_is_the_same_always),
      cmocka_unit_test(test_truncated_anywhere), cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_garbage_behind),     cmocka_unit_test(test_members_add_up),
      cmocka_unit_test(test_bomb_is_refused),
  };
  return cmocka_run_group_tests_name("pprof_gzip", tests, NULL, NULL);
}
