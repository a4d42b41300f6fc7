#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/signals.h"

static struct signals *start(void) {
  struct signals *signals = NULL;
  struct app_error error = {"no error"};
  if (signals_start(&signals, &error) != 0)
    fail_msg("%s", error.message);
  return signals;
}

static void test_stops_without_a_signal(void **state) {
  (void)state;
  struct signals *signals = start();
  assert_int_equal(signals_first(signals), 0);
  assert_false(atomic_load(signals_requested(signals)));
  signals_stop(signals);
  signals_stop(NULL);
}

static void test_takes_the_first_signal(void **state) {
  (void)state;
  struct signals *signals = start();
  kill(getpid(), SIGINT);
  assert_int_equal(signals_wait(signals), SIGINT);
  assert_int_equal(signals_first(signals), SIGINT);
  assert_true(atomic_load(signals_requested(signals)));
  signals_stop(signals);
}

/* A signal that comes before the thread is there is not lost. */
static void test_takes_a_signal_that_waited(void **state) {
  (void)state;
  kill(getpid(), SIGTERM);
  struct signals *signals = start();
  assert_int_equal(signals_wait(signals), SIGTERM);
  signals_stop(signals);
}

static void test_sigpipe_is_an_error_instead(void **state) {
  (void)state;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  close(fds[0]);
  assert_int_equal(write(fds[1], "x", 1), -1);
  close(fds[1]);
}

static void test_second_signal_ends_the_program(void **state) {
  (void)state;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct signals *signals;
    struct app_error error;
    if (signals_start(&signals, &error) != 0)
      _exit(1);
    kill(getpid(), SIGTERM);
    signals_wait(signals);
    kill(getpid(), SIGINT);
    for (;;)
      pause();
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 128 + SIGINT);
}

static void test_names(void **state) {
  (void)state;
  assert_string_equal(signals_name(SIGINT), "SIGINT");
  assert_string_equal(signals_name(SIGTERM), "SIGTERM");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stops_without_a_signal),
      cmocka_unit_test(test_takes_the_first_signal),
      cmocka_unit_test(test_takes_a_signal_that_waited),
      cmocka_unit_test(test_sigpipe_is_an_error_instead),
      cmocka_unit_test(test_second_signal_ends_the_program),
      cmocka_unit_test(test_names),
  };
  signals_block();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
