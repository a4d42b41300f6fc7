/* Clients that wait for a profile: several at once, those that leave, and a server that stops. */
#include "http/folio_http.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_folio.h"
#include "raw_client.h"
#include "server_fixture.h"

#define STOPPING "no profile: the profile server is stopping\n"

/* A connection on which a recording of the CPU has begun. */
static int start_recording(const struct fixture *fixture, int seconds, int live) {
  char uri[64];
  snprintf(uri, sizeof(uri), "/debug/pprof/profile?seconds=%d", seconds);
  int connection = raw_connect(fixture->port);
  raw_request(connection, "GET", uri);
  fake_wait_live(live);
  return connection;
}

static void assert_reply(int connection, int status, const char *body) {
  struct reply reply;
  raw_read(connection, false, &reply);
  assert_int_equal(reply.status, status);
  assert_string_equal(reply.body, body);
  assert_string_equal(reply_header(&reply, "X-Content-Type-Options"), "nosniff");
  close(connection);
}

static void assert_is_served(const struct fixture *fixture) {
  struct reply reply;
  raw_get(fixture->port, "/debug/pprof/", &reply);
  assert_int_equal(reply.status, 200);
}

static void two_readers_at_once_are_both_served(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int first = start_recording(&fixture, 2, 1);
  int second = start_recording(&fixture, 1, 2);
  assert_is_served(&fixture);
  assert_reply(second, 200, "session 0 1000000000");
  assert_reply(first, 200, "session 0 2000000000");
  struct fake_counts counts = fake_counts();
  assert_int_equal(counts.most_live, 3); /* with the one that the index tries */
  assert_int_equal(counts.made, 2);
  fixture_stop(&fixture);
}

static void requests_one_after_the_other_share_a_connection(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int connection = raw_connect(fixture.port);
  struct reply reply;
  for (int i = 0; i < 200; i++) {
    raw_request(connection, "GET", i % 2 == 0 ? "/debug/pprof/heap" : "/nothing");
    raw_read(connection, false, &reply);
    assert_int_equal(reply.status, i % 2 == 0 ? 200 : 404);
  }
  close(connection);
  fixture_stop(&fixture);
}

static void requests_sent_before_the_answer_wait_their_turn(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int connection = raw_connect(fixture.port);
  raw_request(connection, "GET", "/debug/pprof/profile?seconds=1");
  raw_request(connection, "GET", "/debug/pprof/heap");
  raw_request(connection, "GET", "/nothing");
  struct reply reply;
  raw_read(connection, false, &reply);
  assert_string_equal(reply.body, "session 0 1000000000");
  raw_read(connection, false, &reply);
  assert_string_equal(reply.body, "snapshot 1 0");
  raw_read(connection, false, &reply);
  assert_int_equal(reply.status, 404);
  close(connection);
  fixture_stop(&fixture);
}

static void half_of_the_connections_may_wait(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.max_connections = 8});
  int waiting[4];
  for (int i = 0; i < 4; i++)
    waiting[i] = start_recording(&fixture, 60, i + 1);
  struct reply reply;
  const char *const uris[] = {"/debug/pprof/profile?seconds=1", "/debug/pprof/heap"};
  for (int i = 0; i < 2; i++) {
    raw_get(fixture.port, uris[i], &reply);
    assert_int_equal(reply.status, 503);
    assert_string_equal(reply.body, "too many clients wait for profiles: try again later\n");
  }
  assert_is_served(&fixture);
  close(waiting[0]);
  fake_wait_live(3);
  raw_get(fixture.port, "/debug/pprof/heap", &reply);
  assert_int_equal(reply.status, 200);
  for (int i = 1; i < 4; i++)
    close(waiting[i]);
  fake_wait_live(0);
  fixture_stop(&fixture);
}

static void a_client_that_leaves_ends_its_recording(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  for (int i = 0; i < 50; i++) {
    int connection = start_recording(&fixture, 3600, 1);
    if (i % 2 == 0) { /* by a reset */
      const struct linger at_once = {.l_onoff = 1};
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
    close(connection);
    fake_wait_live(0);
  }
  struct fake_counts counts = fake_counts();
  assert_int_equal(counts.started, 50);
  assert_int_equal(counts.dropped, 50);
  assert_int_equal(counts.made, 0);
  fixture_stop(&fixture);
}

static void a_client_that_only_stops_sending_is_told(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int connection = start_recording(&fixture, 3600, 1);
  shutdown(connection, SHUT_WR);
  assert_reply(connection, 400, "no profile: the client closed the connection\n");
  fake_wait_live(0);
  fixture_stop(&fixture);
}

static void a_client_that_leaves_does_not_disturb_the_others(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int first = start_recording(&fixture, 3600, 1);
  int second = start_recording(&fixture, 1, 2);
  int third = start_recording(&fixture, 3600, 3);
  close(first);
  close(third);
  fake_wait_live(1);
  assert_reply(second, 200, "session 0 1000000000");
  fixture_stop(&fixture);
}

static void others_are_served_while_a_profile_is_made(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  fake_hold_making();
  int waiting[3];
  for (int i = 0; i < 3; i++) {
    waiting[i] = raw_connect(fixture.port);
    raw_request(waiting[i], "GET", "/debug/pprof/heap");
  }
  fake_wait_making(1);
  assert_is_served(&fixture);
  close(waiting[1]);
  int recording = start_recording(&fixture, 3600, 1);
  close(recording);
  fake_wait_live(0);
  fake_let_go();
  assert_reply(waiting[0], 200, "snapshot 1 0");
  assert_reply(waiting[2], 200, "snapshot 1 0");
  fixture_stop(&fixture);
}

static void stopping_ends_recordings_and_answers(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int waiting[10];
  for (int i = 0; i < 10; i++)
    waiting[i] = start_recording(&fixture, 3600, i + 1);
  int idle = raw_connect(fixture.port);
  fixture_stop(&fixture);
  for (int i = 0; i < 10; i++)
    assert_reply(waiting[i], 503, STOPPING);
  raw_wait_closed(idle);
  close(idle);
  assert_int_equal(fake_counts().dropped, 10);
}

static void *stop(void *argument) {
  folio_http_stop(argument);
  return NULL;
}

static void stopping_waits_for_the_profile_being_made_alone(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  fake_hold_making();
  int first = raw_connect(fixture.port);
  raw_request(first, "GET", "/debug/pprof/heap");
  fake_wait_making(1);
  int second = start_recording(&fixture, 1, 1);
  int third = raw_connect(fixture.port);
  raw_request(third, "GET", "/debug/pprof/allocs");
  assert_is_served(&fixture); /* so the third request was seen too */
  pthread_t stopper;
  assert_int_equal(pthread_create(&stopper, NULL, stop, fixture.http), 0);
  fake_wait_live(0); /* what waits was dropped */
  fake_let_go();
  pthread_join(stopper, NULL);
  assert_reply(first, 200, "snapshot 1 0");
  assert_reply(second, 503, STOPPING);
  assert_reply(third, 503, STOPPING);
  struct fake_counts counts = fake_counts();
  assert_int_equal(counts.made, 1);
  assert_int_equal(counts.unfreed, 0);
}

static void stopping_is_not_held_up_by_those_who_take_nothing(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  fake_set_profile_bytes(50000000);
  int connection = raw_connect(fixture.port);
  raw_request(connection, "GET", "/debug/pprof/heap");
  char byte;
  assert_int_equal(recv(connection, &byte, 1, 0), 1); /* it has begun to be sent */
  int64_t began_ns = fixture_now_ns();
  fixture_stop(&fixture);
  int64_t took_ns = fixture_now_ns() - began_ns;
  if (took_ns > INT64_C(20000000000)) /* half a second, on a machine that is not busy */
    fail_msg("stopping took %lld ns", (long long)took_ns);
  close(connection);
}

static void start_and_stop_leave_nothing(void **state) {
  (void)state;
  for (int i = 0; i < 100; i++) {
    struct fixture fixture = fixture_start((struct folio_http_options){0});
    int connection = raw_connect(fixture.port);
    if (i % 3 == 0)
      raw_request(connection, "GET", "/debug/pprof/profile");
    if (i % 3 == 1)
      raw_request(connection, "GET", "/debug/pprof/heap");
    fixture_stop(&fixture);
    close(connection);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_readers_at_once_are_both_served),
      cmocka_unit_test(requests_one_after_the_other_share_a_connection),
      cmocka_unit_test(requests_sent_before_the_answer_wait_their_turn),
      cmocka_unit_test(half_of_the_connections_may_wait),
      cmocka_unit_test(a_client_that_leaves_ends_its_recording),
      cmocka_unit_test(a_client_that_only_stops_sending_is_told),
      cmocka_unit_test(a_client_that_leaves_does_not_disturb_the_others),
      cmocka_unit_test(others_are_served_while_a_profile_is_made),
      cmocka_unit_test(stopping_ends_recordings_and_answers),
      cmocka_unit_test(stopping_waits_for_the_profile_being_made_alone),
      cmocka_unit_test(stopping_is_not_held_up_by_those_who_take_nothing),
      cmocka_unit_test(start_and_stop_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
