#include "address.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_parts(const char *text, const char *host, const char *port) {
  struct address address;
  struct folio_error error;
  if (address_parse(text, &address, &error) != FOLIO_OK)
    fail_msg("%s", error.message);
  assert_string_equal(address.host, host);
  assert_string_equal(address.port, port);
}

static void addresses_are_taken_apart(void **state) {
  (void)state;
  assert_parts("127.0.0.1:7789", "127.0.0.1", "7789");
  assert_parts("[::1]:0", "::1", "0");
  assert_parts("localhost:65535", "localhost", "65535");
  assert_parts("0.0.0.0:1", "0.0.0.0", "1");
}

static void other_forms_are_refused_by_name(void **state) {
  (void)state;
  const char *const wrong[] = {"",
                               "7789",
                               ":7789",
                               "127.0.0.1",
                               "127.0.0.1:",
                               "localhost:-1",
                               "localhost:65536",
                               "localhost:+1",
                               "localhost:http",
                               "localhost: 1",
                               "localhost:000001",
                               "::1:7789",
                               "[::1]",
                               "[::1]7789",
                               "[::1:7789",
                               "[]:7789",
                               "[127.0.0.1]:7789",
                               "::1]:7789",
                               "localhost:99999999999999999999"};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    struct address address;
    struct folio_error error = {""};
    enum folio_status status = address_parse(wrong[i], &address, &error);
    if (status != FOLIO_INVALID)
      fail_msg("\"%s\" gives status %d", wrong[i], (int)status);
    char expected[128];
    snprintf(expected, sizeof(expected), "address %s:", wrong[i]);
    assert_memory_equal(error.message, expected, strlen(expected));
  }
  char longest[300];
  memset(longest, 'a', sizeof(longest));
  snprintf(longest + 290, 10, ":1");
  struct address address;
  assert_int_equal(address_parse(longest, &address, NULL), FOLIO_INVALID);
}

static int listen_at(const char *text, uint16_t *out_port) {
  struct address address;
  struct folio_error error;
  int listener;
  assert_int_equal(address_parse(text, &address, &error), FOLIO_OK);
  if (address_listen(&address, &listener, out_port, &error) != FOLIO_OK)
    fail_msg("%s", error.message);
  return listener;
}

static void port_0_is_replaced_by_a_port(void **state) {
  (void)state;
  uint16_t port = 0;
  int listener = listen_at("127.0.0.1:0", &port);
  assert_int_not_equal(port, 0);
  assert_int_not_equal(fcntl(listener, F_GETFD) & FD_CLOEXEC, 0);
  assert_int_not_equal(fcntl(listener, F_GETFL) & O_NONBLOCK, 0);
  close(listener);
}

static void a_busy_port_is_named_with_the_reason(void **state) {
  (void)state;
  uint16_t port = 0;
  int listener = listen_at("127.0.0.1:0", &port);
  char text[64];
  char expected[256];
  snprintf(text, sizeof(text), "127.0.0.1:%u", port);
  snprintf(expected, sizeof(expected),
           "cannot listen on 127.0.0.1:%u: Address already in use; stop what uses it or choose "
           "another port (0 picks one)",
           port);
  struct address address;
  struct folio_error error;
  int second = -7;
  assert_int_equal(address_parse(text, &address, &error), FOLIO_OK);
  assert_int_equal(address_listen(&address, &second, &port, &error), FOLIO_SYSTEM);
  assert_string_equal(error.message, expected);
  assert_int_equal(second, -7);
  close(listener);
}

static void an_address_of_another_machine_is_named(void **state) {
  (void)state;
  struct address address = {.host = "192.0.2.7", .port = "0"};
  struct folio_error error;
  int listener;
  uint16_t port;
  assert_int_equal(address_listen(&address, &listener, &port, &error), FOLIO_SYSTEM);
  assert_string_equal(error.message, "cannot listen on 192.0.2.7:0: Cannot assign requested "
                                     "address; choose another address or port");
}

static void a_port_is_free_again_at_once(void **state) {
  (void)state;
  uint16_t port = 0;
  int listener = listen_at("127.0.0.1:0", &port);
  struct sockaddr_storage name;
  socklen_t size = sizeof(name);
  assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &size), 0);
  int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(client, (struct sockaddr *)&name, size), 0);
  int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  assert_true(accepted >= 0);
  close(accepted); /* first, so that it is the one that stays in TIME_WAIT */
  close(client);
  close(listener);
  char text[64];
  snprintf(text, sizeof(text), "127.0.0.1:%u", port);
  close(listen_at(text, &port));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_are_taken_apart),
      cmocka_unit_test(other_forms_are_refused_by_name),
      cmocka_unit_test(port_0_is_replaced_by_a_port),
      cmocka_unit_test(a_busy_port_is_named_with_the_reason),
      cmocka_unit_test(an_address_of_another_machine_is_named),
      cmocka_unit_test(a_port_is_free_again_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
