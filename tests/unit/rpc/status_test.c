#include "rpc/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void names_are_the_canonical_ones(void **state) {
  (void)state;
  assert_string_equal(rpc_status_name(RPC_OK), "OK");
  assert_string_equal(rpc_status_name(RPC_RESOURCE_EXHAUSTED), "RESOURCE_EXHAUSTED");
  assert_string_equal(rpc_status_name(RPC_UNAUTHENTICATED), "UNAUTHENTICATED");
}

static void every_code_has_its_own_name(void **state) {
  (void)state;
  for (int i = 0; i < RPC_STATUS_COUNT; i++) {
    for (int j = 0; j < i; j++)
      assert_string_not_equal(rpc_status_name((enum rpc_status)i),
                              rpc_status_name((enum rpc_status)j));
  }
}

static void a_number_that_is_no_code_is_unknown(void **state) {
  (void)state;
  assert_string_equal(rpc_status_name((enum rpc_status)RPC_STATUS_COUNT), "UNKNOWN");
  assert_string_equal(rpc_status_name((enum rpc_status) - 1), "UNKNOWN");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_the_canonical_ones),
      cmocka_unit_test(every_code_has_its_own_name),
      cmocka_unit_test(a_number_that_is_no_code_is_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
