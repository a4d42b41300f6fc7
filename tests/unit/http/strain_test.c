/* Clients that mean harm, or are merely slow. */
#include "http/folio_http.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_folio.h"
#include "raw_client.h"
#include "server_fixture.h"

#define MANY 100

static void assert_is_served(const struct fixture *fixture) {
  struct reply reply;
  raw_get(fixture->port, "/debug/pprof/heap", &reply);
  assert_int_equal(reply.status, 200);
}

static bool has_ended(int connection) {
  struct pollfd polled = {.fd = connection, .events = POLLIN | POLLRDHUP};
  return poll(&polled, 1, 0) == 1;
}

/* How many of the connections the server has not closed. */
static int count_open(const int *connections, int count) {
  int open = 0;
  for (int i = 0; i < count; i++)
    open += has_ended(connections[i]) ? 0 : 1;
  return open;
}

static void normal_requests_are_served_among_many_slow_ones(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int slow[MANY];
  for (int i = 0; i < MANY; i++) {
    slow[i] = raw_connect(fixture.port);
    raw_send(slow[i], i % 3 == 0 ? "" : i % 3 == 1 ? "GET /debug" : "GET / HTTP/1.1\r\nX: y\r\n");
  }
  for (int i = 0; i < 50; i++)
    assert_is_served(&fixture);
  int open = count_open(slow, MANY);
  if (open > 32)
    fail_msg("%d slow connections are open, more than the limit", open);
  for (int i = 0; i < MANY; i++)
    close(slow[i]);
  fixture_stop(&fixture);
}

static void recordings_go_on_among_many_slow_ones(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.max_connections = 4});
  int recording = raw_connect(fixture.port);
  raw_request(recording, "GET", "/debug/pprof/profile?seconds=1");
  fake_wait_live(1);
  int slow[MANY];
  for (int i = 0; i < MANY; i++) {
    slow[i] = raw_connect(fixture.port);
    raw_send(slow[i], "GET /");
  }
  struct reply reply;
  raw_read(recording, false, &reply);
  assert_string_equal(reply.body, "session 0 1000000000");
  for (int i = 0; i < MANY; i++)
    close(slow[i]);
  close(recording);
  fixture_stop(&fixture);
}

static void the_newest_of_too_many_connections_stay(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.max_connections = 10});
  int slow[30];
  for (int i = 0; i < 30; i++) {
    slow[i] = raw_connect(fixture.port);
    raw_send(slow[i], "GET ");
    if (i >= 10)
      raw_wait_closed(slow[i - 10]); /* its successor has come */
  }
  assert_int_equal(count_open(slow + 20, 10), 10);
  raw_send(slow[29], "/debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\n\r\n");
  struct reply reply;
  raw_read(slow[29], false, &reply);
  assert_int_equal(reply.status, 200);
  for (int i = 0; i < 30; i++)
    close(slow[i]);
  fixture_stop(&fixture);
}

static void a_client_that_trickles_is_closed_in_time(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.client_timeout_ms = 300});
  int64_t began_ns = fixture_now_ns();
  int connection = raw_connect(fixture.port);
  raw_send(connection, "GET /debug/pprof/heap HTTP/1.1\r\nX: ");
  /* A byte every 10 ms keeps a timeout of inactivity away for ever. */
  struct pollfd polled = {.fd = connection, .events = POLLIN | POLLRDHUP};
  int bytes = 0;
  while (poll(&polled, 1, 10) == 0 && bytes++ < 6000)
    send(connection, "x", 1, MSG_NOSIGNAL);
  int64_t took_ns = fixture_now_ns() - began_ns;
  if (bytes >= 6000 || took_ns < INT64_C(290000000))
    fail_msg("closed after %d bytes and %lld ns", bytes, (long long)took_ns);
  close(connection);
  fixture_stop(&fixture);
}

static void an_idle_client_is_closed_in_time(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.client_timeout_ms = 200});
  int silent = raw_connect(fixture.port);
  int served = raw_connect(fixture.port);
  struct reply reply;
  raw_request(served, "GET", "/debug/pprof/heap");
  raw_read(served, false, &reply);
  raw_wait_closed(silent);
  raw_wait_closed(served);
  close(silent);
  close(served);
  assert_int_equal(fixture_log_lines(), 0);
  fixture_stop(&fixture);
}

static void a_client_that_takes_nothing_is_closed_in_time(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.client_timeout_ms = 300});
  fake_set_profile_bytes(50000000);
  int connection = raw_connect(fixture.port);
  raw_request(connection, "GET", "/debug/pprof/heap");
  fake_set_profile_bytes(0);
  /* The profile is freed when the connection is. */
  char byte;
  assert_int_equal(recv(connection, &byte, 1, 0), 1);
  int64_t until_ns = fixture_now_ns() + INT64_C(60000000000);
  while (fake_counts().unfreed > 0 && fixture_now_ns() < until_ns)
    assert_is_served(&fixture);
  assert_int_equal(fake_counts().unfreed, 0);
  close(connection);
  fixture_stop(&fixture);
}

static void a_recording_may_last_longer_than_the_timeout(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.client_timeout_ms = 100});
  struct reply reply;
  raw_get(fixture.port, "/debug/pprof/profile?seconds=1", &reply);
  assert_int_equal(reply.status, 200);
  fixture_stop(&fixture);
}

/* The share of one processor that the whole process takes for 300 ms. */
static double measure_cpu_share(void) {
  int64_t began_ns = fixture_now_ns();
  int64_t began_cpu_ns = fixture_cpu_ns();
  poll(NULL, 0, 300);
  return (double)(fixture_cpu_ns() - began_cpu_ns) / (double)(fixture_now_ns() - began_ns);
}

static void waiting_costs_no_processor_time(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  fake_set_profile_bytes(50000000);
  int connections[6];
  for (int i = 0; i < 6; i++)
    connections[i] = raw_connect(fixture.port);
  raw_send(connections[0], "GET /debug/pprof/heap HTTP/1.1\r\n");
  raw_request(connections[1], "GET", "/debug/pprof/heap"); /* is never read */
  raw_request(connections[2], "GET", "/debug/pprof/heap");
  raw_request(connections[2], "GET", "/debug/pprof/heap"); /* early */
  raw_request(connections[3], "GET", "/debug/pprof/profile");
  raw_request(connections[4], "GET", "/debug/pprof/profile");
  raw_request(connections[4], "GET", "/debug/pprof/heap"); /* early */
  char byte;
  assert_int_equal(recv(connections[1], &byte, 1, 0), 1);
  assert_int_equal(recv(connections[2], &byte, 1, 0), 1);
  fake_wait_live(2);
  double share = measure_cpu_share();
  if (share > 0.5)
    fail_msg("the server takes %.0f %% of a processor while all wait", share * 100);
  for (int i = 0; i < 6; i++)
    close(connections[i]);
  fake_wait_live(0);
  fixture_stop(&fixture);
}

static void a_flood_of_garbage_makes_few_log_lines(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  for (int i = 0; i < 200; i++) {
    int connection = raw_connect(fixture.port);
    raw_send(connection, "GET /\x1b[31m HTTP/9.9\r\n\r\n");
    raw_wait_closed(connection);
    close(connection);
  }
  int lines = fixture_log_lines();
  if (lines < 1 || lines > 21)
    fail_msg("%d lines for 200 bad requests", lines);
  fixture_stop(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(normal_requests_are_served_among_many_slow_ones),
      cmocka_unit_test(recordings_go_on_among_many_slow_ones),
      cmocka_unit_test(the_newest_of_too_many_connections_stay),
      cmocka_unit_test(a_client_that_trickles_is_closed_in_time),
      cmocka_unit_test(an_idle_client_is_closed_in_time),
      cmocka_unit_test(a_client_that_takes_nothing_is_closed_in_time),
      cmocka_unit_test(a_recording_may_last_longer_than_the_timeout),
      cmocka_unit_test(waiting_costs_no_processor_time),
      cmocka_unit_test(a_flood_of_garbage_makes_few_log_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
