#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <regex.h>

#include <cmocka.h>

#include "text.h"

/*
 * Fails every allocation in turn. The linker puts the functions below in the
 * place of the allocator's and of regcomp() and regexec(), which allocate inside
 * libc. What lives is counted, so that a leak shows without a sanitizer too.
 */

static int allocations_until_failure; /* 0: none fails */
static int allocations_living;

static bool allocation_fails(void) {
  return allocations_until_failure > 0 && --allocations_until_failure == 0;
}

static void *allocation_counted(void *allocation) {
  if (allocation != NULL)
    allocations_living++;
  return allocation;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __real_free(void *allocation);
void __wrap_free(void *allocation);
int __real_regcomp(regex_t *regex, const char *pattern, int flags);
int __wrap_regcomp(regex_t *regex, const char *pattern, int flags);
void __real_regfree(regex_t *regex);
void __wrap_regfree(regex_t *regex);
int __real_regexec(const regex_t *regex, const char *text, size_t count, regmatch_t matches[],
                   int flags);
int __wrap_regexec(const regex_t *regex, const char *text, size_t count, regmatch_t matches[],
                   int flags);

void *__wrap_malloc(size_t size) {
  return allocation_fails() ? NULL : allocation_counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return allocation_fails() ? NULL : allocation_counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size) {
  if (allocation_fails())
    return NULL;
  void *allocation = __real_realloc(old, size);
  return old == NULL ? allocation_counted(allocation) : allocation;
}

void __wrap_free(void *allocation) {
  if (allocation != NULL)
    allocations_living--;
  __real_free(allocation);
}

int __wrap_regcomp(regex_t *regex, const char *pattern, int flags) {
  if (allocation_fails())
    return REG_ESPACE;
  int status = __real_regcomp(regex, pattern, flags);
  allocations_living += status == 0;
  return status;
}

void __wrap_regfree(regex_t *regex) {
  allocations_living--;
  __real_regfree(regex);
}

int __wrap_regexec(const regex_t *regex, const char *text, size_t count, regmatch_t matches[],
                   int flags) {
  return allocation_fails() ? REG_ESPACE : __real_regexec(regex, text, count, matches, flags);
}

/* Enough lines for the list of lines and the buffer of a file to grow twice. */
static int setup(void **state) {
  struct text *text = malloc(sizeof *text);
  text_create(text);
  static const char line[] = "Neither a borrower nor a lender b\xc3\x89\n";
  char bytes[200 * (sizeof line - 1)];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = line[i % (sizeof line - 1)];
  text_write(text, "a.txt", bytes, sizeof bytes);
  text_write(text, "b.txt", "to be\n", 6);
  text_open(text);
  *state = text;
  return 0;
}

static int teardown(void **state) {
  text_destroy(*state);
  free(*state);
  return 0;
}

/* Whether the failure came before the version's work was done. */
static bool fails_at(const struct text *text, const struct match_version *version, int nth) {
  int living = allocations_living;
  struct match_error error = {0};
  void *prepared = NULL;
  int64_t count = -1;
  const struct match_query query = {.phrase = "to be", .length = 5};
  allocations_until_failure = nth;
  enum match_outcome outcome = version->prepare(text->corpus, &prepared, &error);
  if (outcome == MATCH_OK) {
    outcome = version->count(prepared, &query, &count, &error);
    version->release(prepared);
  }
  bool failed = allocations_until_failure == 0;
  allocations_until_failure = 0;
  assert_int_equal(outcome, failed ? MATCH_OUT_OF_MEMORY : MATCH_OK);
  assert_int_equal(count, failed ? -1 : 1);
  assert_ptr_equal(strstr(error.message, "out of memory while "), failed ? error.message : NULL);
  assert_int_equal(allocations_living, living);
  return failed;
}

static void every_failed_allocation_is_answered(void **state) {
  for (size_t i = 0; i < match_version_count(); i++) {
    int nth = 1;
    while (fails_at(*state, match_version_at(i), nth))
      nth++;
    assert_in_range(nth, 200, 2000); /* a string a line, and its copies */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failed_allocation_is_answered),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
