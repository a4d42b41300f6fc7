#include "corpus/corpus.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <openssl/evp.h>

#include "corpus/fold.h"
#include "stand_in.h"
#include "support.h"

/*
 * The linker sends corpus/'s calls of these functions here (--wrap), where the
 * chosen one fails. The test's own calls come here too, while nothing is armed.
 */
static struct {
  long allocations_left; /* the allocation that fails, counted from 1; 0 is none */
  long live;             /* allocations not freed */
  int read_errno;        /* what read() fails with; 0 is success, likewise below */
  int write_errno;
  int close_errno;
  int readdir_errno;
  bool interrupt; /* every other read() and write() is interrupted, and those between are short */
} faults;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
EVP_MD_CTX *__real_EVP_MD_CTX_new(void);
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __real_write(int fd, const void *buffer, size_t size);
int __real_close(int fd);
struct dirent *__real_readdir(DIR *directory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **out, const char *format, ...);
void __wrap_free(void *memory);
EVP_MD_CTX *__wrap_EVP_MD_CTX_new(void);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_write(int fd, const void *buffer, size_t size);
int __wrap_close(int fd);
struct dirent *__wrap_readdir(DIR *directory);

static bool allocation_fails(void) {
  return faults.allocations_left > 0 && --faults.allocations_left == 0;
}

static void *count_live(void *memory) {
  faults.live += memory != NULL;
  return memory;
}

void *__wrap_malloc(size_t size) {
  return allocation_fails() ? NULL : count_live(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return allocation_fails() ? NULL : count_live(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (allocation_fails())
    return NULL;
  void *moved = __real_realloc(memory, size);
  faults.live += memory == NULL && moved != NULL;
  return moved;
}

char *__wrap_strdup(const char *text) {
  return allocation_fails() ? NULL : count_live(__real_strdup(text));
}

int __wrap_asprintf(char **out, const char *format, ...) {
  *out = (char *)(uintptr_t)1; /* undefined after a failure */
  if (allocation_fails())
    return -1;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(out, format, arguments);
  va_end(arguments);
  faults.live += length >= 0;
  return length;
}

void __wrap_free(void *memory) {
  faults.live -= memory != NULL;
  __real_free(memory);
}

EVP_MD_CTX *__wrap_EVP_MD_CTX_new(void) {
  return allocation_fails() ? NULL : __real_EVP_MD_CTX_new();
}

/* Fails the call with the code, or as a signal would every other time. */
static bool call_fails(int code) {
  static unsigned calls;
  if (code)
    errno = code;
  else if (faults.interrupt && ++calls % 2)
    errno = EINTR;
  else
    return false;
  return true;
}

static size_t short_size(size_t size) {
  return faults.interrupt && size > 1 ? size / 2 : size;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size) {
  return call_fails(faults.read_errno) ? -1 : __real_read(fd, buffer, short_size(size));
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size) {
  return call_fails(faults.write_errno) ? -1 : __real_write(fd, buffer, short_size(size));
}

int __wrap_close(int fd) {
  int result = __real_close(fd);
  if (!faults.close_errno)
    return result;
  errno = faults.close_errno;
  return -1;
}

struct dirent *__wrap_readdir(DIR *directory) {
  if (!faults.readdir_errno)
    return __real_readdir(directory);
  errno = faults.readdir_errno;
  return NULL;
}

static int faults_setup(void **state) {
  memset(&faults, 0, sizeof faults);
  return folder_setup(state);
}

static int faults_teardown(void **state) {
  memset(&faults, 0, sizeof faults);
  return folder_teardown(state);
}

/* A folder with the stand-in, so that sums are computed too; owned. */
static char *make_stand_in(const char *base) {
  char *folder = path_join(base, "stand-in");
  struct corpus_error error = {""};
  if (stand_in_write(folder, &error))
    fail_msg("not written: %s", error.message);
  return folder;
}

/* Opens with the n-th allocation failing; returns whether all went well, since there are fewer. */
static bool open_with_failing_allocation(const char *folder, long n) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  long live = faults.live;
  faults.allocations_left = n;
  int result = corpus_open(folder, &corpus, &error);
  bool failed = faults.allocations_left == 0;
  faults.allocations_left = 0;
  if (!failed) {
    assert_int_equal(result, 0);
    assert_int_equal(corpus_kind(corpus), CORPUS_STAND_IN);
    corpus_close(corpus);
  } else {
    assert_int_equal(result, -1);
    assert_null(corpus);
    assert_holds(error.message, folder);
    assert_holds(error.message, "out of memory");
  }
  assert_int_equal(faults.live, live);
  return !failed;
}

static void test_open_without_memory(void **state) {
  char *folder = make_stand_in(*state);
  long n = 1;
  while (!open_with_failing_allocation(folder, n))
    n++;
  assert_in_range(n, 42, 200);
  free(folder);
}

/* As above; what was there stays as it was. */
static bool write_with_failing_allocation(const char *base, const char *folder, long n) {
  struct corpus_error error = {""};
  long live = faults.live;
  faults.allocations_left = n;
  int result = stand_in_write(folder, &error);
  bool failed = faults.allocations_left == 0;
  faults.allocations_left = 0;
  assert_int_equal(faults.live, live);
  assert_int_equal(result, failed ? -1 : 0);
  if (failed)
    assert_holds(error.message, "out of memory");
  char *entries = shell_output(base, "ls -A");
  assert_string_equal(entries, failed ? "" : "stand-in");
  free(entries);
  return !failed;
}

static void test_stand_in_without_memory(void **state) {
  char *folder = path_join(*state, "stand-in");
  long n = 1;
  /* The works are alike: the first ones in full, then a sample. */
  while (!write_with_failing_allocation(*state, folder, n))
    n += n < 10 ? 1 : 13;
  assert_in_range(n, 42, 300);
  free(folder);
}

/* Finds with the n-th allocation failing; returns whether all went well. */
static bool find_with_failing_allocation(long n) {
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  long live = faults.live;
  faults.allocations_left = n;
  int result = corpus_find(NULL, &corpus, &error);
  bool failed = faults.allocations_left == 0;
  faults.allocations_left = 0;
  /* A stand-in that could not be opened for want of memory is written again, which may succeed. */
  assert_true(result == 0 || failed);
  if (result)
    assert_holds(error.message, "out of memory");
  corpus_close(corpus);
  assert_int_equal(faults.live, live);
  return !failed;
}

static void test_find_without_memory(void **state) {
  setenv("HOME", *state, 1);
  unsetenv("SHAKESAPP_CORPUS");
  unsetenv("XDG_DATA_HOME");
  unsetenv("XDG_CACHE_HOME");
  long n = 1;
  while (!find_with_failing_allocation(n))
    n += n < 5 ? 1 : 13;
  assert_in_range(n, 42, 200);
}

static void test_fold_copy_without_memory(void **state) {
  (void)state;
  faults.allocations_left = 1;
  assert_null(corpus_fold_copy("Hamlet", 6, NULL));
}

static void test_read_error(void **state) {
  write_text(*state, "a.txt", "a line\n");
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  faults.read_errno = EIO;
  assert_int_equal(corpus_open(*state, &corpus, &error), -1);
  faults.read_errno = 0;
  assert_null(corpus);
  assert_holds(error.message, "/a.txt: cannot be read (Input/output error)");
}

static void test_readdir_error(void **state) {
  write_text(*state, "a.txt", "a line\n");
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  faults.readdir_errno = EIO;
  assert_int_equal(corpus_open(*state, &corpus, &error), -1);
  faults.readdir_errno = 0;
  assert_null(corpus);
  assert_holds(error.message, *state);
  assert_holds(error.message, "cannot be read (Input/output error)");
}

static void assert_not_written(const char *base, const char *why) {
  char *folder = path_join(base, "stand-in");
  struct corpus_error error = {""};
  int result = stand_in_write(folder, &error);
  faults.write_errno = 0;
  faults.close_errno = 0;
  assert_int_equal(result, -1);
  assert_holds(error.message, "1kinghenryiv.txt: cannot be written");
  assert_holds(error.message, why);
  char *entries = shell_output(base, "ls -A");
  assert_string_equal(entries, "");
  free(entries);
  free(folder);
}

static void test_full_disk(void **state) {
  faults.write_errno = ENOSPC;
  assert_not_written(*state, "(No space left on device)");
  faults.close_errno = EDQUOT;
  assert_not_written(*state, "(Disk quota exceeded)");
}

static void test_interrupted_and_short_calls(void **state) {
  faults.interrupt = true;
  char *folder = make_stand_in(*state);
  struct corpus *corpus = NULL;
  struct corpus_error error = {""};
  assert_int_equal(corpus_open(folder, &corpus, &error), 0);
  assert_int_equal(corpus_kind(corpus), CORPUS_STAND_IN);
  assert_int_equal(corpus_lines(corpus), 172948);
  corpus_close(corpus);
  free(folder);
}

#define WITH_FAULTS(test) cmocka_unit_test_setup_teardown(test, faults_setup, faults_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_FAULTS(test_open_without_memory), WITH_FAULTS(test_stand_in_without_memory),
      WITH_FAULTS(test_find_without_memory), WITH_FAULTS(test_fold_copy_without_memory),
      WITH_FAULTS(test_read_error),          WITH_FAULTS(test_readdir_error),
      WITH_FAULTS(test_full_disk),           WITH_FAULTS(test_interrupted_and_short_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
