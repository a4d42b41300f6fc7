#include "sampler/labels.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/threads.h"

static void equal_strings_have_one_number(void **state) {
  (void)state;
  char copy[] = "version";
  uint16_t number = label_intern("version");
  assert_int_not_equal(number, 0);
  assert_int_equal(label_intern(copy), number);
  assert_int_not_equal(label_intern("versio"), number);
  assert_int_not_equal(label_intern("version1"), number);
  assert_string_equal(label_text(number), "version");
  assert_string_equal(label_text(label_intern("")), "");
}

static void a_long_string_is_cut(void **state) {
  (void)state;
  char text[LABEL_BYTES_MAX + 100];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  uint16_t number = label_intern(text);
  assert_int_equal(strlen(label_text(number)), LABEL_BYTES_MAX);
  text[LABEL_BYTES_MAX + 5] = 'y';
  assert_int_equal(label_intern(text), number);
}

static void expect_labels(const char *const *expected, int count) {
  struct label_pair pairs[LABELS_MAX] = {{0}};
  thread_slot_copy_labels(thread_slot_own(), pairs);
  int found = 0;
  for (int i = 0; i < LABELS_MAX; i++) {
    if (pairs[i].key == 0)
      continue;
    assert_true(found < count);
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): there are `count` pairs of them
    assert_string_equal(label_text(pairs[i].key), expected[found * 2]);
    assert_string_equal(label_text(pairs[i].value), expected[found * 2 + 1]);
    found++;
  }
  assert_int_equal(found, count);
}

static int set(const char *key, const char *value) {
  return label_set(label_intern(key), value != NULL ? label_intern(value) : 0);
}

static void labels_are_set_replaced_and_removed(void **state) {
  (void)state;
  assert_int_equal(set("method", "count"), 0);
  assert_int_equal(set("query", "hello"), 0);
  assert_int_equal(set("query", "world"), 0);
  expect_labels((const char *[]){"method", "count", "query", "world"}, 2);
  assert_int_equal(set("method", NULL), 0);
  assert_int_equal(set("absent", NULL), 0);
  expect_labels((const char *[]){"query", "world"}, 1);
  assert_int_equal(set("query", NULL), 0);
}

static void a_ninth_label_is_refused(void **state) {
  (void)state;
  char key[] = "a";
  for (int i = 0; i < LABELS_MAX; i++, key[0]++)
    assert_int_equal(set(key, "v"), 0);
  assert_int_equal(set(key, "v"), -1);
  assert_int_equal(set("a", "w"), 0);
  for (key[0] = 'a'; key[0] < 'a' + LABELS_MAX; key[0]++)
    assert_int_equal(set(key, NULL), 0);
  expect_labels(NULL, 0);
}

static void *other_thread(void *argument) {
  (void)argument;
  expect_labels(NULL, 0);
  set("query", "theirs");
  expect_labels((const char *[]){"query", "theirs"}, 1);
  return NULL;
}

static void labels_belong_to_their_thread(void **state) {
  (void)state;
  assert_int_equal(set("query", "mine"), 0);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
  pthread_join(thread, NULL);
  expect_labels((const char *[]){"query", "mine"}, 1);
  assert_int_equal(set("query", NULL), 0);
}

static void *intern_all(void *argument) {
  uint16_t *numbers = argument;
  char text[32];
  for (int i = 0; i < 500; i++) {
    snprintf(text, sizeof(text), "string %d", i);
    numbers[i] = label_intern(text);
  }
  return NULL;
}

static void threads_agree_on_the_numbers(void **state) {
  (void)state;
  static uint16_t numbers[4][500];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, intern_all, numbers[i]), 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 500; i++) {
    assert_int_not_equal(numbers[0][i], 0);
    for (int thread = 1; thread < 4; thread++)
      assert_int_equal(numbers[thread][i], numbers[0][i]);
  }
}

/* Last, since it leaves no room. */
static void past_the_limit_no_number_is_given(void **state) {
  (void)state;
  char text[32];
  uint16_t number = 1;
  for (int i = 0; i < LABEL_STRINGS_MAX + 10 && number != 0; i++) {
    snprintf(text, sizeof(text), "filler %d", i);
    number = label_intern(text);
  }
  assert_int_equal(number, 0);
  assert_int_not_equal(label_intern("version"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_strings_have_one_number),
      cmocka_unit_test(a_long_string_is_cut),
      cmocka_unit_test(labels_are_set_replaced_and_removed),
      cmocka_unit_test(a_ninth_label_is_refused),
      cmocka_unit_test(labels_belong_to_their_thread),
      cmocka_unit_test(threads_agree_on_the_numbers),
      cmocka_unit_test(past_the_limit_no_number_is_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
