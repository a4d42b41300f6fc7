/* What is answered, when nothing has to be waited for long. */
#include "http/folio_http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_folio.h"
#include "raw_client.h"
#include "server_fixture.h"

static void assert_header(const struct reply *reply, const char *name, const char *expected) {
  const char *value = reply_header(reply, name);
  if (expected == NULL && value != NULL)
    fail_msg("header %s: %s", name, value);
  if (expected != NULL && value == NULL)
    fail_msg("no header %s in %s", name, reply->head);
  if (expected != NULL)
    assert_string_equal(value, expected);
}

static void assert_binary(const struct reply *reply, const char *file_name) {
  char disposition[64];
  snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"", file_name);
  assert_int_equal(reply->status, 200);
  assert_header(reply, "X-Content-Type-Options", "nosniff");
  assert_header(reply, "Content-Type", "application/octet-stream");
  assert_header(reply, "Content-Disposition", disposition);
  assert_header(reply, "X-Go-Pprof", NULL);
  assert_header(reply, "Access-Control-Allow-Origin", NULL);
}

static void assert_error(const struct reply *reply, int status, const char *message) {
  char line[600];
  snprintf(line, sizeof(line), "%s\n", message);
  assert_string_equal(reply->body, line);
  assert_int_equal(reply->status, status);
  assert_header(reply, "X-Content-Type-Options", "nosniff");
  assert_header(reply, "Content-Type", "text/plain; charset=utf-8");
  assert_header(reply, "X-Go-Pprof", "1");
  assert_header(reply, "Content-Disposition", NULL);
  assert_header(reply, "Access-Control-Allow-Origin", NULL);
}

static void profiles_have_their_headers_and_bytes(void **state) {
  (void)state;
  const struct {
    const char *uri;
    const char *file_name;
    const char *body;
  } cases[] = {
      {"/debug/pprof/profile?seconds=1", "profile", "session 0 1000000000"},
      {"/debug/pprof/heap", "heap", "snapshot 1 0"},
      {"/debug/pprof/heap?gc=1", "heap", "snapshot 1 0"},
      {"/debug/pprof/heap?seconds=1", "heap-delta", "session 1 1000000000"},
      {"/debug/pprof/allocs", "allocs", "snapshot 2 0"},
      {"/debug/pprof/allocs?seconds=1", "allocs-delta", "session 2 1000000000"},
  };
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct reply reply;
    raw_get(fixture.port, cases[i].uri, &reply);
    assert_binary(&reply, cases[i].file_name);
    assert_string_equal(reply.body, cases[i].body);
  }
  assert_int_equal(fixture_log_lines(), 0);
  fixture_stop(&fixture);
}

static void a_recording_lasts_as_long_as_asked(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  struct reply reply;
  int64_t began_ns = fixture_now_ns();
  raw_get(fixture.port, "/debug/pprof/profile?seconds=2", &reply);
  int64_t took_ns = fixture_now_ns() - began_ns;
  assert_int_equal(reply.status, 200);
  if (took_ns < INT64_C(2000000000))
    fail_msg("2 seconds took only %lld ns", (long long)took_ns);
  fixture_stop(&fixture);
}

static void large_profiles_arrive_whole(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  const size_t sizes[] = {1, 1000, 65536, 5000000, 30000000};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    struct reply reply;
    fake_set_profile_bytes(sizes[i]);
    raw_get(fixture.port, "/debug/pprof/heap", &reply);
    assert_binary(&reply, "heap");
    if (sizes[i] > 1)
      assert_int_equal(reply.length, sizes[i]);
  }
  fixture_stop(&fixture);
}

static void errors_have_their_headers_and_texts(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.max_seconds = 90});
  const struct {
    const char *uri;
    int status;
    const char *message;
  } cases[] = {
      {"/nothing", 404, "Unknown profile"},
      {"/debug/pprof/goroutine", 404, "Unknown profile"},
      {"/debug/pprof/heap?seconds=x", 400,
       "invalid value for \"seconds\" - must be a positive integer"},
      {"/debug/pprof/heap?seconds=1&debug=1", 400, "seconds and debug params are incompatible"},
      {"/debug/pprof/profile?seconds=91", 400,
       "profile duration exceeds the server's limit of 90 seconds"},
      {"/debug/pprof/heap%00", 400, "the address is malformed"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct reply reply;
    raw_get(fixture.port, cases[i].uri, &reply);
    assert_error(&reply, cases[i].status, cases[i].message);
  }
  assert_int_equal(fake_counts().started, 0);
  fixture_stop(&fixture);
}

static void heap_profiles_that_are_off_say_how_to_switch_them_on(void **state) {
  (void)state;
  struct fixture fixture =
      fixture_start((struct folio_http_options){.heap_switch = "the flag -heap"});
  fake_set_heap(false);
  const char *const uris[] = {"/debug/pprof/heap", "/debug/pprof/allocs",
                              "/debug/pprof/heap?seconds=1", "/debug/pprof/allocs?seconds=1"};
  struct reply reply;
  for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
    raw_get(fixture.port, uris[i], &reply);
    assert_error(&reply, 404, "heap sampling is off: switch it on with the flag -heap");
  }
  fixture_stop(&fixture);
}

static void failures_of_folio_are_answered(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  struct reply reply;
  fake_set_started(false);
  raw_get(fixture.port, "/debug/pprof/profile?seconds=1", &reply);
  assert_error(&reply, 500, "Could not enable CPU profiling: Folio is not started");
  raw_get(fixture.port, "/debug/pprof/heap", &reply);
  assert_error(&reply, 500, "failed to collect profile: Folio is not started");
  fake_set_started(true);
  fake_fail_making();
  raw_get(fixture.port, "/debug/pprof/profile?seconds=1", &reply);
  assert_error(&reply, 500, "Could not enable CPU profiling: out of memory for a profile");
  raw_get(fixture.port, "/debug/pprof/allocs?seconds=1", &reply);
  assert_error(&reply, 500, "failed to collect profile: out of memory for a profile");
  fixture_stop(&fixture);
}

static void the_index_lists_what_there_is(void **state) {
  (void)state;
  struct fixture fixture =
      fixture_start((struct folio_http_options){.heap_switch = "a <b> & \"c\""});
  struct reply reply;
  raw_get(fixture.port, "/debug/pprof/", &reply);
  assert_int_equal(reply.status, 200);
  assert_header(&reply, "Content-Type", "text/html; charset=utf-8");
  assert_header(&reply, "X-Content-Type-Options", "nosniff");
  const char *const links[] = {"<a href=\"profile\">", "<a href=\"heap\">", "<a href=\"allocs\">",
                               "Folio 9.8.7"};
  for (size_t i = 0; i < 4; i++)
    assert_non_null(strstr(reply.body, links[i]));
  fake_set_heap(false);
  raw_get(fixture.port, "/debug/pprof/", &reply);
  assert_non_null(strstr(reply.body, "<a href=\"profile\">"));
  assert_null(strstr(reply.body, "<a href=\"heap\">"));
  assert_null(strstr(reply.body, "<b>"));
  assert_non_null(strstr(reply.body, "with a &lt;b&gt; &amp; &quot;c&quot;"));
  fixture_stop(&fixture);
}

static void the_way_to_the_index_is_shown(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  const char *const uris[] = {"/", "/debug/pprof"};
  for (size_t i = 0; i < 2; i++) {
    struct reply reply;
    raw_get(fixture.port, uris[i], &reply);
    assert_int_equal(reply.status, 302);
    assert_header(&reply, "Location", "/debug/pprof/");
    assert_header(&reply, "X-Content-Type-Options", "nosniff");
  }
  fixture_stop(&fixture);
}

/* Sends a request of its own making and reads the answer. */
static struct reply *ask(const struct fixture *fixture, const char *bytes, bool head) {
  static struct reply reply;
  int connection = raw_connect(fixture->port);
  raw_send(connection, bytes);
  raw_read(connection, head, &reply);
  close(connection);
  return &reply;
}

static void head_tells_the_headers_without_recording(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  const char *const names[] = {"profile", "heap", "allocs"}; /* 30 seconds, if it were a GET */
  char request[256];
  for (size_t i = 0; i < 3; i++) {
    snprintf(request, sizeof(request), "HEAD /debug/pprof/%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
             names[i]);
    int connection = raw_connect(fixture.port);
    struct reply reply;
    raw_send(connection, request);
    raw_read(connection, true, &reply);
    assert_binary(&reply, names[i]);
    assert_header(&reply, "Content-Length", NULL);
    assert_header(&reply, "Transfer-Encoding", NULL);
    char byte;
    assert_int_equal(recv(connection, &byte, 1, 0), 0);
    close(connection);
  }
  assert_int_equal(fake_counts().made, 0);
  static const char index[] = "HEAD /debug/pprof/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
  assert_int_equal(ask(&fixture, index, true)->status, 200);
  fake_set_heap(false);
  struct reply *reply =
      ask(&fixture, "HEAD /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\n\r\n", true);
  assert_int_equal(reply->status, 404);
  assert_header(reply, "X-Go-Pprof", "1");
  fixture_stop(&fixture);
}

static void other_methods_are_refused_and_their_bodies_read(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int connection = raw_connect(fixture.port);
  const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get"};
  for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
    char request[256];
    snprintf(request, sizeof(request),
             "%s /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\na=b&c=d",
             methods[i]);
    struct reply reply;
    raw_send(connection, request);
    raw_read(connection, false, &reply);
    assert_error(&reply, 405, "method not allowed: use GET or HEAD");
    assert_header(&reply, "Allow", "GET, HEAD");
  }
  struct reply reply;
  raw_request(connection, "GET", "/debug/pprof/heap");
  raw_read(connection, false, &reply);
  assert_binary(&reply, "heap");
  close(connection);
  fixture_stop(&fixture);
}

static void a_long_body_ends_the_connection(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int connection = raw_connect(fixture.port);
  raw_send(connection, "GET /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Length: 1000000000\r\n\r\n");
  static char piece[65536];
  memset(piece, 'x', sizeof(piece));
  for (int i = 0; i < 1000; i++) {
    if (send(connection, piece, sizeof(piece), MSG_NOSIGNAL) < 0)
      break;
    if (i == 999)
      fail_msg("64 MB of a body were taken");
  }
  close(connection);
  fixture_stop(&fixture);
}

static void hosts_of_others_are_refused(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  const char *const hosts[] = {
      "Host: evil.example\r\n",
      "Host: evil.example:7789\r\n",
      "Host: localhost.evil.example\r\n",
      "Host:\r\n",
      "Host: localhost\r\nHost: evil.example\r\n",
      "Host: evil.example\r\nHost: localhost\r\n",
      "host: localhost\r\nHOST: localhost\r\n",
      "X-Forwarded-Host: localhost\r\nHost: evil.example\r\n",
  };
  const char *const uris[] = {"/debug/pprof/heap", "/debug/pprof/", "/", "/nothing"};
  char request[512];
  for (size_t host = 0; host < sizeof(hosts) / sizeof(hosts[0]); host++) {
    for (size_t uri = 0; uri < 4; uri++) {
      snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\n%s\r\n", uris[uri], hosts[host]);
      assert_error(ask(&fixture, request, false), 403,
                   "this Host is not served: ask for localhost, 127.0.0.1, [::1] or 127.0.0.1, or "
                   "let the profile server listen on the name");
    }
  }
  struct reply *reply = ask(&fixture, "GET /debug/pprof/heap HTTP/1.0\r\n\r\n", false);
  assert_int_equal(reply->status, 403);
  reply = ask(&fixture, "GET /debug/pprof/heap HTTP/1.1\r\n\r\n", false);
  assert_int_equal(reply->status, 400);
  assert_int_equal(fake_counts().made, 0);
  fixture_stop(&fixture);
}

static void hosts_of_ours_are_served(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  const char *const hosts[] = {"localhost", "LOCALHOST:80", "127.0.0.1:7789", "[::1]",
                               " localhost "};
  for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
    char request[512];
    snprintf(request, sizeof(request), "GET /debug/pprof/heap HTTP/1.1\r\nHost: %s\r\n\r\n",
             hosts[i]);
    assert_binary(ask(&fixture, request, false), "heap");
  }
  fixture_stop(&fixture);
}

static void ipv6_is_served(void **state) {
  (void)state;
  struct folio_http_options options = {.size = sizeof(options), .address = "[::1]:0"};
  struct folio_http *http;
  struct folio_error error;
  fake_reset();
  if (folio_http_start(&options, &http, &error) != FOLIO_OK) {
    print_message("skipped: no IPv6 here: %s\n", error.message);
    skip();
  }
  assert_int_not_equal(folio_http_port(http), 0);
  folio_http_stop(http);
}

static void garbage_is_answered_or_dropped(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){.client_timeout_ms = 500});
  const char *const garbage[] = {
      "\r\n\r\n\r\n",
      "GET\r\n\r\n",
      "GET /debug/pprof/heap\r\n\r\n",
      "GET /debug/pprof/heap HTTP/9.9\r\nHost: localhost\r\n\r\n",
      "GET /debug/pprof/ heap HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /debug/pprof/heap HTTP/1.1\r\nno colon\r\n\r\n",
      "GET /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "\x16\x03\x01\x02\x01\x01\xff\xfe\x80 hello over TLS\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  };
  for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
    struct reply reply;
    int connection = raw_connect(fixture.port);
    raw_send(connection, garbage[i]);
    shutdown(connection, SHUT_WR);
    raw_read(connection, false, &reply);
    if (reply.status == 200)
      fail_msg("garbage %zu was answered with %s", i, reply.head);
    raw_wait_closed(connection);
    close(connection);
  }
  struct reply reply;
  raw_get(fixture.port, "/debug/pprof/heap", &reply);
  assert_binary(&reply, "heap");
  fixture_stop(&fixture);
}

static void long_addresses_and_headers_are_refused(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  static char text[60000];
  memset(text, 'x', sizeof(text));
  text[sizeof(text) - 1] = '\0';
  static char request[sizeof(text) + 200];
  const struct {
    int length;
    int status;
  } addresses[] = {{2000, 200}, {3000, 414}, {59000, 414}};
  for (size_t i = 0; i < 3; i++) {
    snprintf(request, sizeof(request),
             "GET /debug/pprof/heap?%.*s HTTP/1.1\r\nHost: localhost\r\n\r\n", addresses[i].length,
             text);
    assert_int_equal(ask(&fixture, request, false)->status, addresses[i].status);
  }
  const struct {
    int length;
    int status;
  } headers[] = {{4000, 200}, {59000, 431}};
  for (size_t i = 0; i < 2; i++) {
    snprintf(request, sizeof(request),
             "GET /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\nX: %.*s\r\n\r\n",
             headers[i].length, text);
    assert_int_equal(ask(&fixture, request, false)->status, headers[i].status);
  }
  fixture_stop(&fixture);
}

static void start_refuses_what_is_not_possible(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  struct folio_http *http = NULL;
  struct folio_error error;
  char address[64];
  snprintf(address, sizeof(address), "127.0.0.1:%u", fixture.port);
  struct folio_http_options options = {.size = sizeof(options), .address = address};
  assert_int_equal(folio_http_start(&options, &http, &error), FOLIO_SYSTEM);
  assert_memory_equal(error.message, "cannot listen on 127.0.0.1:", 27);
  assert_non_null(strstr(error.message, "Address already in use"));
  options.address = "nowhere";
  assert_int_equal(folio_http_start(&options, &http, &error), FOLIO_INVALID);
  assert_memory_equal(error.message, "address nowhere:", 16);
  options.address = "127.0.0.1:0";
  options.max_connections = 3;
  assert_int_equal(folio_http_start(&options, &http, &error), FOLIO_INVALID);
  assert_string_equal(error.message, "max_connections is 3: it must be from 4 to 1024");
  options.max_connections = 1025;
  assert_int_equal(folio_http_start(&options, &http, NULL), FOLIO_INVALID);
  assert_null(http);
  folio_http_stop(NULL);
  fixture_stop(&fixture);
}

static void fields_past_the_callers_size_are_not_read(void **state) {
  (void)state;
  struct folio_http_options options = {.size = offsetof(struct folio_http_options, max_connections),
                                       .address = "127.0.0.1:0",
                                       .max_connections = 7777,
                                       .heap_switch = (const char *)1};
  struct folio_http *http;
  struct folio_error error = {""};
  if (folio_http_start(&options, &http, &error) != FOLIO_OK)
    fail_msg("%s", error.message);
  folio_http_stop(http);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(profiles_have_their_headers_and_bytes),
      cmocka_unit_test(a_recording_lasts_as_long_as_asked),
      cmocka_unit_test(large_profiles_arrive_whole),
      cmocka_unit_test(errors_have_their_headers_and_texts),
      cmocka_unit_test(heap_profiles_that_are_off_say_how_to_switch_them_on),
      cmocka_unit_test(failures_of_folio_are_answered),
      cmocka_unit_test(the_index_lists_what_there_is),
      cmocka_unit_test(the_way_to_the_index_is_shown),
      cmocka_unit_test(head_tells_the_headers_without_recording),
      cmocka_unit_test(other_methods_are_refused_and_their_bodies_read),
      cmocka_unit_test(a_long_body_ends_the_connection),
      cmocka_unit_test(hosts_of_others_are_refused),
      cmocka_unit_test(hosts_of_ours_are_served),
      cmocka_unit_test(ipv6_is_served),
      cmocka_unit_test(garbage_is_answered_or_dropped),
      cmocka_unit_test(long_addresses_and_headers_are_refused),
      cmocka_unit_test(start_refuses_what_is_not_possible),
      cmocka_unit_test(fields_past_the_callers_size_are_not_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
