/* Walks at every instruction: prologues, epilogues, linkage tables, assembly of libc. */
#include <dlfcn.h>
#include <math.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>
#include <openssl/sha.h>

#include "shapes.h"
#include "throwing.h"
#include "trace.h"
#include "unwind/unwind.h"

/* Returns how many walks differed with an excuse. */
static size_t check_but(const char *name, void (*body)(void *), void *argument, size_t min_steps,
                        trace_excuse *excuse) {
  struct trace_report report = trace_run(body, argument, excuse);
  print_message("%s: %zu steps, %zu different, %zu excused, deepest %zu\n", name, report.steps,
                report.different, report.excused, report.deepest);
  if (report.different > 0)
    trace_print_differences();
  assert_in_range(report.steps, min_steps, SIZE_MAX);
  assert_int_equal(report.different, 0);
  return report.excused;
}

static void check(const char *name, void (*body)(void *), void *argument, size_t min_steps) {
  check_but(name, body, argument, min_steps, NULL);
}

static bool is_in_file(uintptr_t pc, const char *name) {
  Dl_info info;
  return dladdr((const void *)pc, &info) != 0 && strstr(info.dli_fname, name) != NULL;
}

/* Code that was loaded since the last refresh. */
static bool is_in_plugin(uintptr_t pc) {
  return is_in_file(pc, TEST_PLUGIN_ID);
}

/* In libc itself: a sanitizer has one of its own before it. */
static uintptr_t libc_longjmp;

/* The rules of longjmp's last instructions describe where it jumps to. */
static bool is_in_longjmp(uintptr_t pc) {
  return pc - libc_longjmp < 1024;
}

/*
 * libgcc enters a landing pad by overwriting the return address and the saved registers of
 * its own frame, one after the other: while it does, there is no true stack to be found.
 */
static bool is_in_libgcc(uintptr_t pc) {
  return is_in_file(pc, "/libgcc_s.so") || is_in_longjmp(pc);
}

static long visit(void *context) {
  long *count = context;
  return ++*count;
}

static void run_shape(void *argument) {
  const struct shape *shape = argument;
  long count = 0;
  for (long seed = 0; seed < 2; seed++)
    count += shape->run(visit, &count, seed);
}

static void every_shape_is_walked(void **state) {
  (void)state;
  for (size_t i = 0; i < shape_count; i++) {
    struct shape shape = shapes[i];
    check(shape.name, run_shape, &shape, 20);
  }
}

static void a_jump_is_walked(void **state) {
  (void)state;
  struct shape jump = {"jump", shape_jump};
  assert_in_range(check_but(jump.name, run_shape, &jump, 500, is_in_longjmp), 0, 40);
}

static void use_strings(void *argument) {
  char *buffer = argument;
  const char *volatile unused;
  for (size_t size = 0; size < 300; size = size * 2 + 1) {
    memset(buffer, 'x', size);
    buffer[size] = '\0';
    memcpy(buffer + 512, buffer, strlen(buffer) + 1);
    memmove(buffer + 500, buffer + 512, size);
    unused = strchr(buffer, 'y');
    buffer[0] = (char)memcmp(buffer, buffer + 512, size);
  }
  snprintf(buffer, 512, "%d %s %.17g", 42, "words", 0.1);
  strtod("3.25e-5", NULL);
  free(realloc(malloc(100), 100000));
  (void)unused;
}

static void use_expressions(void *argument) {
  regex_t *expression = argument;
  if (regcomp(expression, "a.*(b|c)+d", REG_EXTENDED) == 0 &&
      regexec(expression, "xxaxxbbcd", 0, NULL, 0) == 0)
    regfree(expression);
}

static void libc_is_walked(void **state) {
  (void)state;
  static char buffer[2048];
  static regex_t expression;
  check("strings", use_strings, buffer, 2000);
  check("regular expressions", use_expressions, &expression, 5000);
}

static void call_lazily(void *argument) {
  double *number = argument;
  *number = lgamma(*number) + erf(*number);
}

static void lazy_binding_is_walked(void **state) {
  (void)state;
  double number = 1.5;
  check("lazy binding", call_lazily, &number, 1000);
}

static void read_clocks(void *argument) {
  struct timespec *now = argument;
  clock_gettime(CLOCK_MONOTONIC, now);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, now);
  time(NULL);
  getpid();
}

static void the_vdso_is_walked(void **state) {
  (void)state;
  struct timespec now;
  check("vdso", read_clocks, &now, 50);
}

static void load(void *argument) {
  void **library = argument;
  *library = dlopen(TEST_PLUGIN_ID, RTLD_NOW);
}

static void unload(void *argument) {
  dlclose(*(void **)argument);
}

static void the_loader_is_walked(void **state) {
  (void)state;
  void *library = NULL;
  assert_in_range(check_but("dlopen", load, &library, 3000, is_in_plugin), 0, 100);
  assert_non_null(library);
  assert_in_range(check_but("dlclose", unload, &library, 1000, is_in_plugin), 0, 100);
}

/* Where forced unwinding ends; the frame's address, since a sanitizer may keep locals elsewhere. */
struct landing {
  jmp_buf back;
  _Unwind_Word frame;
};

static _Unwind_Reason_Code stop_at_end(int version, _Unwind_Action actions,
                                       _Unwind_Exception_Class class,
                                       struct _Unwind_Exception *exception,
                                       struct _Unwind_Context *context, void *argument) {
  (void)version;
  (void)actions;
  (void)class;
  (void)exception;
  struct landing *landing = argument;
  if (_Unwind_GetCFA(context) > landing->frame)
    longjmp(landing->back, 1);
  return _URC_NO_REASON;
}

static volatile long cleaned_up;

static void clean_up(const long *number) {
  cleaned_up += *number;
}

// NOLINTNEXTLINE(misc-no-recursion)
__attribute__((noinline)) static void unwind_by_force(struct landing *landing, long depth) {
  __attribute__((cleanup(clean_up), unused)) long number = depth + 1;
  static struct _Unwind_Exception exception;
  if (depth == 0)
    _Unwind_ForcedUnwind(&exception, stop_at_end, landing);
  else
    unwind_by_force(landing, depth - 1);
}

static void unwind_frames(void *argument) {
  (void)argument;
  struct landing landing = {.frame = (_Unwind_Word)__builtin_frame_address(0)};
  if (setjmp(landing.back) == 0)
    unwind_by_force(&landing, 3);
}

static void forced_unwinding_is_walked(void **state) {
  (void)state;
  size_t excused = check_but("forced unwinding", unwind_frames, NULL, 5000, is_in_libgcc);
  assert_in_range(excused, 0, 2000);
  assert_int_equal(cleaned_up, 1 + 2 + 3 + 4);
}

static void exceptions_are_walked(void **state) {
  (void)state;
#ifdef TEST_CXX
  int caught = 0;
  assert_in_range(check_but("exception", throwing_run, &caught, 5000, is_in_libgcc), 0, 2000);
  assert_int_equal(caught, 1);
#else
  skip();
#endif
}

static void hash(void *argument) {
  unsigned char *bytes = argument;
  SHA1(bytes, 300, bytes + 512);
  SHA256(bytes, 300, bytes + 512);
  SHA512(bytes, 300, bytes + 512);
}

/* Assembly without frames of the usual form, with its rules written by hand. */
static void assembly_of_libcrypto_is_walked(void **state) {
  (void)state;
  static unsigned char bytes[1024];
  hash(bytes); /* what is done once */
  check("hashes", hash, bytes, 5000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape_is_walked),
      cmocka_unit_test(a_jump_is_walked),
      cmocka_unit_test(libc_is_walked),
      cmocka_unit_test(lazy_binding_is_walked),
      cmocka_unit_test(the_vdso_is_walked),
      cmocka_unit_test(the_loader_is_walked),
      cmocka_unit_test(forced_unwinding_is_walked),
      cmocka_unit_test(exceptions_are_walked),
      cmocka_unit_test(assembly_of_libcrypto_is_walked),
  };
  void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (libc == NULL || unwind_refresh() != 0)
    return 1;
  libc_longjmp = (uintptr_t)dlsym(libc, "siglongjmp");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
