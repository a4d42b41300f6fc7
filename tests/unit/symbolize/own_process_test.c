#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

/* Objects that this process has mapped. Some tests run the program anew in another role. */

static __attribute__((noinline)) int probe(int x) {
  __asm__ volatile("" : "+r"(x));
  return x + 1;
}

/* Where an address is mapped: the path as in /proc/self/maps. */
static void mapped_path(uintptr_t address, char out[512]) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[1024];
  assert_non_null(maps);
  out[0] = '\0';
  while (fgets(line, sizeof(line), maps) != NULL) {
    char *end;
    uintptr_t start = strtoul(line, &end, 16);
    uintptr_t limit = strtoul(end + 1, NULL, 16);
    const char *path = strchr(line, '/');
    if (address >= start && address < limit && path != NULL)
      snprintf(out, 512, "%.*s", (int)strcspn(path, "\n"), path);
  }
  fclose(maps);
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size;
  *(uintptr_t *)out = info->dlpi_addr;
  return 1;
}

static const struct symbol *find_mapped(struct symbolizer *symbolizer, uintptr_t address,
                                        uintptr_t bias, const char *path) {
  struct symbol_object object = {.number = 5, .path = path, .build_id = "", .bias = bias};
  return symbolizer_find(symbolizer, &object, address);
}

static const struct symbol *find_probe(struct symbolizer *symbolizer) {
  char path[512];
  uintptr_t bias = 0;
  uintptr_t address = (uintptr_t)probe;
  dl_iterate_phdr(first_bias, &bias);
  mapped_path(address, path);
  return find_mapped(symbolizer, address, bias, path);
}

static void test_own_function(void **state) {
  (void)state;
  assert_int_equal(probe(1), 2);
  struct symbolizer *symbolizer = symbolizer_create(0);
  const struct symbol *symbol = find_probe(symbolizer);
  assert_string_equal(symbol->lines[0].name, "probe");
  assert_true(symbol->known);
  symbolizer_destroy(symbolizer);
}

/*
 * The role of the copy: it deletes itself and looks itself up, without root's right to open
 * whatever a process has mapped.
 */
static int run_deleted(const char *path) {
  char mapped[512];
  if (unlink(path) != 0)
    return 10;
  if (geteuid() == 0 &&
      (setresuid(65534, 65534, 65534) != 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0))
    return 13;
  mapped_path((uintptr_t)probe, mapped);
  if (strstr(mapped, " (deleted)") == NULL)
    return 11;
  struct symbolizer *symbolizer = symbolizer_create(0);
  const struct symbol *symbol = find_probe(symbolizer);
  int status = symbol->known && strcmp(symbol->lines[0].name, "probe") == 0 ? 0 : 12;
  symbolizer_destroy(symbolizer);
  return status;
}

/* Runs a program with one argument and returns its exit status. */
static int run(const char *path, const char *role) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    execl(path, path, role, (char *)NULL);
    _exit(99);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_deleted_executable(void **state) {
  (void)state;
  char path[] = "/tmp/symbolize-own-XXXXXX";
  int fd = mkstemp(path);
  assert_int_not_equal(fd, -1);
  close(fd);
  copy_file("/proc/self/exe", path);
  assert_int_equal(chmod(path, 0755), 0);
  assert_int_equal(run(path, "deleted"), 0);
}

static int may_open_map_files(void *address) {
  char path[128];
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "re");
  int fd = -1;
  while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
    char *end;
    uintptr_t start = strtoul(line, &end, 16);
    uintptr_t limit = strtoul(end + 1, NULL, 16);
    if ((uintptr_t)address < start || (uintptr_t)address >= limit)
      continue;
    snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", start, limit);
    fd = open(path, O_RDONLY | O_CLOEXEC);
  }
  if (maps != NULL)
    fclose(maps);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

/* The kernel keeps a deleted library; whether one may read it is another matter. */
static void test_deleted_library(void **state) {
  (void)state;
  char path[] = "/tmp/symbolize-lib-XXXXXX";
  char mapped[512];
  struct link_map *map;
  int fd = mkstemp(path);
  assert_int_not_equal(fd, -1);
  close(fd);
  copy_file(FIXTURES "/libshapes.so.1", path);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  unlink(path);
  void *outer = dlsym(library, "outer");
  assert_non_null(outer);
  assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  mapped_path((uintptr_t)outer, mapped);
  assert_ends_with(mapped, " (deleted)");
  struct symbolizer *symbolizer = symbolizer_create(0);
  const struct symbol *symbol = find_mapped(symbolizer, (uintptr_t)outer, map->l_addr, mapped);
  if (may_open_map_files(outer)) {
    assert_string_equal(symbol->lines[0].name, "outer");
    assert_ends_with(symbol->lines[0].file, "shapes.c");
  } else {
    char name[64];
    snprintf(name, sizeof(name), "[%s]", strrchr(path, '/') + 1);
    assert_unknown(symbol, name);
  }
  symbolizer_destroy(symbolizer);
  dlclose(library);
}

static void test_vdso(void **state) {
  (void)state;
  uintptr_t base = getauxval(AT_SYSINFO_EHDR);
  size_t known = 0;
  if (base == 0)
    skip(); /* as under valgrind */
  struct symbolizer *symbolizer = symbolizer_create(0);
  for (uintptr_t address = base; address < base + 0x2000; address += 8) {
    const struct symbol *symbol = find_mapped(symbolizer, address, base, "[vdso]");
    if (!symbol->known)
      assert_unknown(symbol, "[vdso]");
    else if (strstr(symbol->lines[0].name, "clock_gettime") != NULL)
      known++;
  }
  assert_in_range(known, 1, 500);
  struct symbol_object other = {.number = 9, .path = "[vdso]", .build_id = "00", .bias = base};
  assert_unknown(symbolizer_find(symbolizer, &other, base + 0x1000), "[vdso]");
  symbolizer_destroy(symbolizer);
}

/* Where its debug data are installed, libc has lines; else at least exported names. */
static void test_libc(void **state) {
  (void)state;
  char path[512];
  Dl_info info;
  /* From libc itself: a sanitizer has a regcomp() of its own. */
  void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  assert_non_null(library);
  void *function = dlsym(library, "regcomp");
  assert_non_null(function);
  assert_int_not_equal(dladdr(function, &info), 0);
  mapped_path((uintptr_t)function, path);
  struct symbolizer *symbolizer = symbolizer_create(0);
  const struct symbol *symbol =
      find_mapped(symbolizer, (uintptr_t)function, (uintptr_t)info.dli_fbase, path);
  assert_string_equal(symbol->lines[0].name, "regcomp");
  if (symbol->lines[0].line > 0) {
    assert_ends_with(symbol->lines[0].file, "regcomp.c");
    assert_in_range(symbol->lines[0].start_line, 1, symbol->lines[0].line);
  } else {
    print_message("libc has no debug data here: install libc6-dbg\n");
  }
  symbolizer_destroy(symbolizer);
  dlclose(library);
}

/* The role of the offline program: whatever libdw was told, it asks nobody. */
static int run_offline(void) {
  char build_id[129];
  fixture_build_id(FIXTURES "/shapes", build_id);
  struct symbolizer *symbolizer = symbolizer_create(0);
  struct symbol_object object = {
      .number = 1, .path = FIXTURES "/shapes_stripped", .build_id = build_id};
  bool known = symbolizer_find(symbolizer, &object, 0x1100)->known;
  symbolizer_destroy(symbolizer);
  return known ? 20 : 0;
}

static void test_no_debuginfod(void **state) {
  (void)state;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof(address);
  char url[64];
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  assert_int_not_equal(server, -1);
  assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
  assert_int_equal(listen(server, 5), 0);
  assert_int_equal(getsockname(server, (struct sockaddr *)&address, &length), 0);
  snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
  setenv("DEBUGINFOD_URLS", url, 1);
  setenv("DEBUGINFOD_CACHE_PATH", "/nowhere", 1);
  setenv("DEBUGINFOD_TIMEOUT", "5", 1);
  assert_int_equal(run("/proc/self/exe", "offline"), 0);
  unsetenv("DEBUGINFOD_URLS");
  assert_int_equal(accept(server, NULL, NULL), -1);
  assert_int_equal(errno, EAGAIN);
  close(server);
}

static void test_no_object(void **state) {
  (void)state;
  struct symbolizer *symbolizer = symbolizer_create(0);
  assert_unknown(symbolizer_find(symbolizer, NULL, 0x1234), "[unknown]");
  symbolizer_destroy(symbolizer);
  symbolizer_destroy(NULL);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own_function),
      cmocka_unit_test(test_deleted_executable),
      cmocka_unit_test(test_deleted_library),
      cmocka_unit_test(test_vdso),
      cmocka_unit_test(test_libc),
      cmocka_unit_test(test_no_debuginfod),
      cmocka_unit_test(test_no_object),
  };
  if (argc == 2 && strcmp(argv[1], "deleted") == 0)
    return run_deleted(argv[0]);
  if (argc == 2 && strcmp(argv[1], "offline") == 0)
    return run_offline();
  return cmocka_run_group_tests_name("symbolize_own_process", tests, NULL, NULL);
}
