#include "host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_allowed(const char *header, const char *listen_host) {
  if (!host_allowed(header, strlen(header), listen_host))
    fail_msg("Host \"%s\" is refused by a server on %s", header, listen_host);
}

static void assert_refused(const char *header, const char *listen_host) {
  if (host_allowed(header, strlen(header), listen_host))
    fail_msg("Host \"%s\" is allowed by a server on %s", header, listen_host);
}

static void loopback_names_are_allowed_with_any_port(void **state) {
  (void)state;
  const char *const names[] = {"localhost", "LocalHost", "127.0.0.1", "[::1]", "[0:0:0:0:0:0:0:1]"};
  const char *const ports[] = {"", ":", ":7789", ":1", ":65535"};
  const char *const listen_hosts[] = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.7"};
  char header[64];
  for (size_t name = 0; name < 5; name++) {
    for (size_t port = 0; port < 5; port++) {
      snprintf(header, sizeof(header), "%s%s", names[name], ports[port]);
      for (size_t host = 0; host < 5; host++)
        assert_allowed(header, listen_hosts[host]);
    }
  }
}

static void other_names_are_refused(void **state) {
  (void)state;
  const char *const others[] = {
      "evil.example",
      "evil.example:7789",
      "localhost.evil.example",
      "localhost.",
      "127.0.0.1.evil.example",
      "evil.example:127.0.0.1",
      "192.0.2.7",
      "127.0.0.2",
      "[::2]",
      "[::ffff:127.0.0.1]",
      "0.0.0.0",
      "0.0.0.0:7789",
      "[::]",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.0.0.1.",
  };
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
    assert_refused(others[i], "127.0.0.1");
    assert_refused(others[i], "::1");
    assert_refused(others[i], "localhost");
  }
}

static void malformed_headers_are_refused(void **state) {
  (void)state;
  const char *const wrong[] = {
      "",
      ":7789",
      "localhost:port",
      "localhost:77:89",
      "localhost:-1",
      "::1",
      "[::1",
      "[::1]7789",
      "[::1]:port",
      "[localhost]",
      "[127.0.0.1]",
      "local host",
      "localhost,evil.example",
      "localhost/",
      "localhost@evil.example",
      "evil.example@localhost",
      "user@localhost",
      "[::1%lo]",
      "[]",
      "[]:7789",
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    assert_refused(wrong[i], "127.0.0.1");
    assert_refused(wrong[i], "0.0.0.0");
  }
  assert_false(host_allowed("localhost\0.evil.example", 23, "127.0.0.1"));
  char longest[300];
  memset(longest, 'a', sizeof(longest));
  longest[sizeof(longest) - 1] = '\0';
  assert_refused(longest, longest);
}

static void blanks_around_do_not_count(void **state) {
  (void)state;
  assert_allowed(" \tlocalhost:7789 \t", "127.0.0.1");
  assert_refused("   ", "127.0.0.1");
}

static void the_address_listened_on_is_allowed(void **state) {
  (void)state;
  assert_allowed("192.0.2.7:7789", "192.0.2.7");
  assert_refused("192.0.2.8:7789", "192.0.2.7");
  assert_allowed("[2001:DB8::0:1]", "2001:db8::1");
  assert_refused("[2001:db8::2]", "2001:db8::1");
  assert_allowed("Build.Example:80", "build.example");
  assert_refused("other.example", "build.example");
  assert_allowed("127.0.0.2", "127.0.0.2");
}

static void a_server_on_all_addresses_takes_addresses_but_no_names(void **state) {
  (void)state;
  const char *const everywhere[] = {"0.0.0.0", "::"};
  for (size_t i = 0; i < 2; i++) {
    assert_allowed("192.0.2.7:7789", everywhere[i]);
    assert_allowed("[2001:db8::1]:7789", everywhere[i]);
    assert_refused("build.example:7789", everywhere[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loopback_names_are_allowed_with_any_port),
      cmocka_unit_test(other_names_are_refused),
      cmocka_unit_test(malformed_headers_are_refused),
      cmocka_unit_test(blanks_around_do_not_count),
      cmocka_unit_test(the_address_listened_on_is_allowed),
      cmocka_unit_test(a_server_on_all_addresses_takes_addresses_but_no_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
