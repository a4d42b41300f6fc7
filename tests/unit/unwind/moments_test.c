/* Walks from a signal handler at thousands of moments of a busy program are libunwind's. */
#include <dlfcn.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "oracle.h"
#include "shapes.h"
#include "unwind/unwind.h"

enum {
  MOMENTS = 3000,
  MAX_FRAMES = 200,
  MAX_KEPT = 8,
  PERIOD_NS = 150 * 1000
};

struct difference {
  uintptr_t ours[MAX_FRAMES], theirs[MAX_FRAMES];
  size_t our_count, their_count;
  enum unwind_end end;
};

/* Written by the handler, which runs on the one thread there is. */
static struct {
  struct unwind_stack stack;
  volatile size_t moments;
  size_t equal, incomplete;
  size_t kept;
  struct difference differences[MAX_KEPT];
} seen;

static void on_moment(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  static struct difference now;
  struct unwind_start start = unwind_interrupted(context);
  now.our_count = unwind_walk(&start, &seen.stack, now.ours, MAX_FRAMES, &now.end);
  now.their_count = oracle_walk_in_handler(context, now.theirs, MAX_FRAMES);
  seen.moments++;
  seen.incomplete += now.end != UNWIND_COMPLETE;
  if (now.our_count == now.their_count &&
      memcmp(now.ours, now.theirs, now.our_count * sizeof(now.ours[0])) == 0)
    seen.equal++;
  else if (seen.kept < MAX_KEPT)
    seen.differences[seen.kept++] = now;
}

static long count_visits(void *context) {
  size_t *visits = context;
  char text[32];
  snprintf(text, sizeof(text), "%zu", ++*visits);
  return (long)strlen(text);
}

static void be_busy(size_t *visits) {
  static char haystack[4096];
  memset(haystack, 'a', sizeof(haystack) - 1);
  for (size_t i = 0; i < shape_count; i++)
    shapes[i].run(count_visits, visits, (long)i);
  regex_t expression;
  if (regcomp(&expression, "b(a|c)*d", REG_EXTENDED) == 0) {
    *visits += regexec(&expression, haystack, 0, NULL, 0) == 0;
    regfree(&expression);
  }
  char *copy = strdup(haystack);
  *visits += strstr(copy, "aab") != NULL;
  free(copy);
}

static void print_walk(const char *whose, const uintptr_t *pcs, size_t count) {
  print_message("  %s, %zu frames:", whose, count);
  for (size_t i = 0; i < count && i < 8; i++) {
    Dl_info info = {.dli_fname = "?"};
    dladdr((const void *)pcs[i], &info);
    const char *slash = strrchr(info.dli_fname, '/');
    print_message(" %s+%#zx", slash == NULL ? info.dli_fname : slash + 1,
                  (size_t)(pcs[i] - (uintptr_t)info.dli_fbase));
  }
  print_message("\n");
}

static void print_differences(void) {
  for (size_t i = 0; i < seen.kept; i++) {
    const struct difference *difference = &seen.differences[i];
    print_message("difference %zu, end %d\n", i, (int)difference->end);
    print_walk("ours", difference->ours, difference->our_count);
    print_walk("theirs", difference->theirs, difference->their_count);
  }
}

static void walks_are_equal_at_random_moments(void **state) {
  (void)state;
  struct sigaction action = {.sa_sigaction = on_moment, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  struct itimerspec period = {.it_interval.tv_nsec = PERIOD_NS, .it_value.tv_nsec = PERIOD_NS};
  timer_t timer;
  size_t visits = 0;
  seen.stack = oracle_stack();
  oracle_walk((uintptr_t[8]){0}, 8); /* libunwind's first walk takes memory */
  assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
  assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  assert_int_equal(timer_settime(timer, 0, &period, NULL), 0);
  while (seen.moments < MOMENTS)
    be_busy(&visits);
  timer_delete(timer);
  signal(SIGPROF, SIG_IGN);

  print_message("%zu moments, %zu equal, %zu incomplete\n", (size_t)seen.moments, seen.equal,
                seen.incomplete);
  print_differences();
  assert_int_equal(seen.incomplete, 0);
  assert_in_range(seen.equal, seen.moments - seen.moments / 500, seen.moments);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walks_are_equal_at_random_moments),
  };
  if (unwind_refresh() != 0)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
