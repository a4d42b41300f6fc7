#include "sampler/region.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct record *write_record(struct region *region, size_t depth, uint64_t serial) {
  struct record *record = region_reserve(region, depth);
  if (record == NULL)
    return NULL;
  record->kind = RECORD_CPU;
  record->serial = serial;
  for (size_t i = 0; i < depth; i++)
    record->pcs[i] = serial * 1000 + i;
  region_publish(record);
  return record;
}

static void assert_record(const struct record *record, size_t depth, uint64_t serial) {
  assert_non_null(record);
  assert_int_equal(record->depth, depth);
  assert_int_equal(record->serial, serial);
  for (size_t i = 0; i < depth; i++)
    assert_int_equal(record->pcs[i], serial * 1000 + i);
}

static void records_come_out_in_order_and_whole(void **state) {
  (void)state;
  struct region *region = region_create(1);
  uint64_t next_in = 1;
  uint64_t next_out = 1;
  for (int round = 0; round < 2000; round++) {
    for (int i = 0; i < 5; i++, next_in++)
      assert_non_null(write_record(region, (next_in * 37) % 200, next_in));
    for (int i = 0; i < 5; i++, next_out++) {
      assert_record(region_peek(region), (next_out * 37) % 200, next_out);
      region_consume(region);
    }
    assert_null(region_peek(region));
  }
  region_destroy(region);
}

static void a_full_ring_refuses_and_loses_nothing(void **state) {
  (void)state;
  struct region *region = region_create(1);
  uint64_t written = 0;
  while (write_record(region, 100, written + 1) != NULL)
    written++;
  assert_true(written >= 60);
  for (uint64_t i = 1; i <= written; i++) {
    assert_record(region_peek(region), 100, i);
    region_consume(region);
  }
  assert_null(region_peek(region));
  assert_non_null(write_record(region, 100, 7));
  assert_record(region_peek(region), 100, 7);
  region_destroy(region);
}

static void a_reader_does_not_pass_an_unpublished_record(void **state) {
  (void)state;
  struct region *region = region_create(1);
  struct record *slow = region_reserve(region, 3);
  assert_non_null(write_record(region, 3, 2));
  assert_null(region_peek(region));
  slow->kind = RECORD_CPU;
  slow->serial = 1;
  region_publish(slow);
  assert_int_equal(region_peek(region)->serial, 1);
  region_consume(region);
  assert_record(region_peek(region), 3, 2);
  region_destroy(region);
}

static void a_reset_forgets_half_written_records(void **state) {
  (void)state;
  struct region *region = region_create(1);
  assert_non_null(region_reserve(region, 3));
  region_reset(region);
  assert_null(region_peek(region));
  assert_non_null(write_record(region, 5, 9));
  assert_record(region_peek(region), 5, 9);
  region_destroy(region);
}

enum {
  WRITERS = 4,
  RECORDS = 20000
};

struct writer {
  struct region *region;
  uint64_t first;
  uint64_t refused;
};

static void *write_many(void *argument) {
  struct writer *writer = argument;
  for (uint64_t i = 0; i < RECORDS; i++) {
    if (write_record(writer->region, i % 40, writer->first + i) == NULL)
      writer->refused++;
  }
  return NULL;
}

/* What is read and what was refused add up, and each record is whole. */
static uint64_t write_and_read_at_once(size_t region_bytes) {
  struct region *region = region_create(region_bytes);
  struct writer writers[WRITERS] = {0};
  pthread_t threads[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = (struct writer){.region = region, .first = (uint64_t)(i + 1) * 1000000};
    assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
  }
  uint64_t last[WRITERS] = {0};
  uint64_t read = 0;
  uint64_t refused = 0;
  bool joined = false;
  for (;;) {
    const struct record *record = region_peek(region);
    if (record == NULL && joined)
      break;
    if (record == NULL) {
      for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
      joined = true;
      continue;
    }
    uint64_t serial = record->serial;
    int writer = (int)(serial / 1000000) - 1;
    assert_in_range(writer, 0, WRITERS - 1);
    assert_true(serial > last[writer]);
    last[writer] = serial;
    assert_record(record, serial % 1000000 % 40, serial);
    region_consume(region);
    read++;
  }
  for (int i = 0; i < WRITERS; i++)
    refused += writers[i].refused;
  assert_int_equal(read + refused, WRITERS * RECORDS);
  region_destroy(region);
  return refused;
}

static void writers_at_once_lose_nothing_uncounted(void **state) {
  (void)state;
  write_and_read_at_once(1 << 18);
}

static void a_ring_that_has_room_refuses_nothing(void **state) {
  (void)state;
  for (int round = 0; round < 5; round++)
    assert_int_equal(write_and_read_at_once(64 << 20), 0);
}

static struct region *signal_region;
static volatile uint64_t signal_written;

static void write_in_handler(int number) {
  (void)number;
  if (write_record(signal_region, 10, UINT64_C(1) << 40) != NULL)
    signal_written++;
}

/* A handler that interrupts a writer anywhere writes a record of its own. */
static void a_handler_may_interrupt_a_writer(void **state) {
  (void)state;
  signal_region = region_create(1 << 16);
  struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_RESTART};
  struct sigaction before;
  sigaction(SIGUSR1, &action, &before);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  timer_t timer;
  assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  struct itimerspec every = {.it_value.tv_nsec = 50000, .it_interval.tv_nsec = 50000};
  timer_settime(timer, 0, &every, NULL);
  uint64_t written = 0;
  uint64_t own = 0;
  uint64_t foreign = 0;
  for (uint64_t i = 1; i <= 200000; i++) {
    written += write_record(signal_region, i % 7, i) != NULL;
    for (const struct record *record = region_peek(signal_region); record != NULL;
         record = region_peek(signal_region)) {
      if (record->serial == UINT64_C(1) << 40)
        foreign++;
      else
        own++;
      region_consume(signal_region);
    }
  }
  timer_delete(timer);
  sigaction(SIGUSR1, &before, NULL);
  while (region_peek(signal_region) != NULL) {
    foreign++;
    region_consume(signal_region);
  }
  assert_int_equal(own, written);
  assert_int_equal(foreign, signal_written);
  region_destroy(signal_region);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_come_out_in_order_and_whole),
      cmocka_unit_test(a_full_ring_refuses_and_loses_nothing),
      cmocka_unit_test(a_reader_does_not_pass_an_unpublished_record),
      cmocka_unit_test(a_reset_forgets_half_written_records),
      cmocka_unit_test(writers_at_once_lose_nothing_uncounted),
      cmocka_unit_test(a_ring_that_has_room_refuses_nothing),
      cmocka_unit_test(a_handler_may_interrupt_a_writer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
