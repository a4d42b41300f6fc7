/* The list of modules against what the loader, the kernel and libelf say. */
#include "unwind/modules.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "unwind/unwind.h"

enum {
  CYCLES = 1000
};

static char folder[] = "/tmp/folio-modules-XXXXXX";

static const struct module *module_of(const void *address) {
  return module_find((uintptr_t)address);
}

/* A function of the test's plugin. */
static void *open_plugin(const char *path, void **out_function) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    fail_msg("%s", dlerror());
  *out_function = dlsym(library, "plugin_add");
  assert_non_null(*out_function);
  return library;
}

static void copy_file(const char *from, const char *to) {
  FILE *in = fopen(from, "rbe");
  FILE *out = fopen(to, "wbe");
  assert_non_null(in);
  assert_non_null(out);
  for (int byte; (byte = getc(in)) != EOF;)
    putc(byte, out);
  assert_int_equal(fclose(in), 0);
  assert_int_equal(fclose(out), 0);
}

static void the_main_program_is_number_zero(void **state) {
  (void)state;
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  assert_in_range(length, 1, PATH_MAX);
  path[length] = '\0';
  const struct module *program = module_of((const void *)(uintptr_t)module_of);
  assert_non_null(program);
  assert_int_equal(program->number, 0);
  assert_string_equal(program->path, path);
  assert_ptr_equal(program, module_at(0));
}

static void the_vdso_is_listed(void **state) {
  (void)state;
  uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso == 0)
    skip();
  uint32_t number = 0;
  while (module_at(number) != NULL && strcmp(module_at(number)->path, "[vdso]") != 0)
    number++;
  assert_non_null(module_at(number));
  assert_int_equal(module_at(number)->bias, vdso);
}

/* The bytes in memory are those of the file at the place that the module gives. */
static void check_contents(const struct module *module, int file) {
  unsigned char bytes[256];
  size_t size =
      module->end - module->start < sizeof(bytes) ? module->end - module->start : sizeof(bytes);
  assert_int_equal(pread(file, bytes, size, (off_t)module->file_offset), size);
  assert_memory_equal(bytes, (const void *)module->start, size);
}

static void check_build_id(const struct module *module, int file) {
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(file, ELF_C_READ, NULL);
  const void *bytes = NULL;
  ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  char text[2 * 64 + 1] = "";
  for (ssize_t i = 0; i < size; i++)
    snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
  assert_string_equal(module->build_id, text);
  elf_end(elf);
}

static void modules_are_the_files_that_are_mapped(void **state) {
  (void)state;
  size_t files = 0;
  for (uint32_t number = 0; module_at(number) != NULL; number++) {
    const struct module *module = module_at(number);
    assert_int_equal(module->number, number);
    assert_true(module->start < module->end);
    assert_false(module->unloaded);
    assert_ptr_equal(module_find(module->start), module);
    assert_ptr_equal(module_find(module->end - 1), module);
    int file = open(module->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
      continue;
    check_contents(module, file);
    check_build_id(module, file);
    close(file);
    files++;
  }
  assert_in_range(files, 3, SIZE_MAX);
  assert_null(module_find(0));
  assert_null(module_find(UINTPTR_MAX));
}

static void a_library_comes_and_goes(void **state) {
  (void)state;
  void *function;
  assert_false(modules_changed());
  void *library = open_plugin(TEST_PLUGIN_ID, &function);
  assert_true(modules_changed());
  assert_null(module_of(function));
  assert_int_equal(unwind_refresh(), 0);
  assert_false(modules_changed());
  const struct module *module = module_of(function);
  assert_non_null(module);
  assert_string_equal(module->path, TEST_PLUGIN_ID);
  Dl_info info;
  assert_int_not_equal(dladdr(function, &info), 0);
  assert_int_equal(module->bias, (uintptr_t)info.dli_fbase);

  dlclose(library);
  assert_true(modules_changed());
  assert_false(module->unloaded);
  assert_int_equal(unwind_refresh(), 0);
  assert_true(module->unloaded);
  assert_ptr_equal(module_of(function), module);
}

/* What returns unchanged to its place is what it was; memory does not grow. */
static void loading_again_and_again_leaves_nothing_behind(void **state) {
  (void)state;
  size_t bytes = 0;
  uint32_t count = 0;
  uintptr_t places = 0;
  for (int cycle = 0; cycle < CYCLES; cycle++) {
    void *function;
    void *library = open_plugin(TEST_PLUGIN_ID, &function);
    assert_int_equal(unwind_refresh(), 0);
    const struct module *module = module_of(function);
    assert_false(module->unloaded);
    dlclose(library);
    assert_int_equal(unwind_refresh(), 0);
    assert_true(module->unloaded);
    if (cycle == 20) {
      bytes = unwind_memory_bytes();
      places = module->start;
      while (module_at(count) != NULL)
        count++;
    }
    if (cycle > 20 && module->start == places)
      assert_null(module_at(count));
  }
  if (module_at(count) == NULL)
    assert_int_equal(unwind_memory_bytes(), bytes);
}

/* The same path, perhaps the same place, and another file: another module. */
static void another_file_of_the_same_name_is_another_module(const char *first, const char *second) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/plugin.so", folder);
  void *function;
  copy_file(first, path);
  void *library = open_plugin(path, &function);
  assert_int_equal(unwind_refresh(), 0);
  const struct module *before = module_of(function);
  dlclose(library);
  assert_int_equal(unlink(path), 0);
  copy_file(second, path);
  library = open_plugin(path, &function);
  assert_int_equal(unwind_refresh(), 0); /* it saw neither the unloading nor the loading */
  const struct module *after = module_of(function);
  if (after->start == before->start) /* else there is nothing to mistake */
    assert_int_equal(after->end, before->end);
  assert_ptr_not_equal(after, before);
  assert_int_not_equal(after->number, before->number);
  assert_true(before->unloaded);
  assert_false(after->unloaded);
  assert_string_equal(after->path, path);

  dlclose(library);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(unwind_refresh(), 0);
  assert_ptr_equal(module_of(function), after);
}

static void files_are_told_apart_by_build_id(void **state) {
  (void)state;
  another_file_of_the_same_name_is_another_module(TEST_PLUGIN_ID, TEST_OTHER_PLUGIN_ID);
}

static void files_without_build_id_are_told_apart_by_their_frames(void **state) {
  (void)state;
  another_file_of_the_same_name_is_another_module(TEST_PLUGIN_NO_ID, TEST_OTHER_PLUGIN_NO_ID);
}

static void paths_are_absolute_and_tell_of_deletion(void **state) {
  (void)state;
  char before[PATH_MAX];
  char path[PATH_MAX];
  char expected[PATH_MAX + 16];
  assert_non_null(getcwd(before, sizeof(before)));
  assert_int_equal(chdir(folder), 0);
  copy_file(TEST_PLUGIN_ID, "relative.so");
  assert_non_null(realpath("relative.so", path));
  void *function;
  void *library = open_plugin("./relative.so", &function);
  assert_int_equal(unlink("relative.so"), 0);
  assert_int_equal(unwind_refresh(), 0);
  snprintf(expected, sizeof(expected), "%s (deleted)", path);
  assert_string_equal(module_of(function)->path, expected);
  dlclose(library);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(unwind_refresh(), 0);
}

static void a_refresh_without_a_change_does_nothing(void **state) {
  (void)state;
  size_t bytes = unwind_memory_bytes();
  assert_in_range(bytes, 4096, SIZE_MAX);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(unwind_refresh(), 0);
  assert_int_equal(unwind_memory_bytes(), bytes);
}

static void everything_is_released_and_made_anew(void **state) {
  (void)state;
  unwind_release();
  assert_int_equal(unwind_memory_bytes(), 0);
  assert_null(module_at(0));
  assert_null(module_of((const void *)(uintptr_t)module_of));
  assert_true(modules_changed());
  assert_int_equal(unwind_refresh(), 0);
  assert_int_equal(module_of((const void *)(uintptr_t)module_of)->number, 0);
}

static int set_up(void **state) {
  (void)state;
  return mkdtemp(folder) == NULL || unwind_refresh() != 0 ? -1 : 0;
}

static int tear_down(void **state) {
  (void)state;
  unwind_release();
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_main_program_is_number_zero),
      cmocka_unit_test(the_vdso_is_listed),
      cmocka_unit_test(modules_are_the_files_that_are_mapped),
      cmocka_unit_test(a_library_comes_and_goes),
      cmocka_unit_test(loading_again_and_again_leaves_nothing_behind),
      cmocka_unit_test(files_are_told_apart_by_build_id),
      cmocka_unit_test(files_without_build_id_are_told_apart_by_their_frames),
      cmocka_unit_test(paths_are_absolute_and_tell_of_deletion),
      cmocka_unit_test(a_refresh_without_a_change_does_nothing),
      cmocka_unit_test(everything_is_released_and_made_anew),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
