#include <dirent.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "object.h"
#include "support.h"

/* Which file's symbols are used. Each test has an empty folder of its own. */
struct folder {
  char path[64];
  char file[1024]; /* the last that folder_path() made */
};

static int folder_setup(void **state) {
  struct folder *folder = calloc(1, sizeof(*folder));
  if (folder == NULL)
    return -1;
  memcpy(folder->path, "/tmp/symbolize-files-XXXXXX", 28);
  *state = folder;
  return mkdtemp(folder->path) != NULL ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status;
  (void)kind;
  (void)place;
  return remove(path);
}

/* A folder with its parents. */
static void make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
  assert_int_equal(mkdir(path, 0700), 0);
}

static int folder_teardown(void **state) {
  struct folder *folder = *state;
  int status = nftw(folder->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(folder);
  return status;
}

static const char *folder_path(struct folder *folder, const char *name) {
  snprintf(folder->file, sizeof(folder->file), "%s/%s", folder->path, name);
  return folder->file;
}

static void put(struct folder *folder, const char *fixture, const char *name) {
  char from[512];
  snprintf(from, sizeof(from), "%s/%s", FIXTURES, fixture);
  copy_file(from, folder_path(folder, name));
}

static void make_folder(struct folder *folder, const char *name) {
  assert_int_equal(mkdir(folder_path(folder, name), 0700), 0);
}

/* The name found for mark_outer of the fixture in the file with this path; "" for none. */
static void find_outer(const char *path, const char *build_id, const char *fixture,
                       const char *debug_root, char out[64]) {
  char from[512];
  struct symbol_object mapped = {.path = path, .build_id = build_id};
  const struct symbol_line *lines;
  snprintf(from, sizeof(from), "%s/%s", FIXTURES, fixture);
  struct object *object = object_open(&mapped, debug_root);
  assert_non_null(object);
  size_t count = object_find(object, fixture_symbol(from, "mark_outer").start, &lines);
  snprintf(out, 64, "%s%s", count > 0 ? lines[0].name : "",
           count > 0 && lines[0].line > 0 ? " with line" : "");
  object_close(object);
}

static void assert_outer(const char *path, const char *build_id, const char *fixture,
                         const char *debug_root, const char *expected) {
  char name[64];
  find_outer(path, build_id, fixture, debug_root, name);
  assert_string_equal(name, expected);
}

static void shapes_build_id(char out[129]) {
  fixture_build_id(FIXTURES "/shapes", out);
  assert_string_not_equal(out, "");
}

static void test_build_id_is_compared(void **state) {
  struct folder *folder = *state;
  char build_id[129];
  shapes_build_id(build_id);
  put(folder, "shapes", "program");
  const char *path = folder_path(folder, "program");
  assert_outer(path, build_id, "shapes", "/nowhere", "outer with line");
  assert_outer(path, "", "shapes", "/nowhere", "outer with line");
  assert_outer(path, "00", "shapes", "/nowhere", "");
  assert_outer(FIXTURES "/shapes_dwarf4", "", "shapes", "/nowhere", "outer with line");
  put(folder, "shapes_dwarf4", "program"); /* replaced: the same code in the same place */
  assert_outer(path, build_id, "shapes", "/nowhere", "");
  put(folder, "shapes_no_build_id", "program");
  assert_outer(path, build_id, "shapes", "/nowhere", "");
}

static void test_deleted(void **state) {
  struct folder *folder = *state;
  char build_id[129];
  shapes_build_id(build_id);
  put(folder, "shapes", "program");
  const char *path = folder_path(folder, "program (deleted)");
  assert_outer(path, build_id, "shapes", "/nowhere", "outer with line"); /* put back since */
  assert_outer(path, "", "shapes", "/nowhere", ""); /* who knows what is there now */
  put(folder, "shapes_dwarf4", "program");
  assert_outer(folder_path(folder, "program (deleted)"), build_id, "shapes", "/nowhere", "");
}

/* Puts the debug file where the build id says. */
static void put_by_build_id(struct folder *folder, const char *fixture, const char *build_id) {
  char name[256];
  make_folder(folder, ".build-id");
  snprintf(name, sizeof(name), ".build-id/%.2s", build_id);
  make_folder(folder, name);
  snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug", build_id, build_id + 2);
  put(folder, fixture, name);
}

static void test_debug_file_by_build_id(void **state) {
  struct folder *folder = *state;
  char build_id[129];
  shapes_build_id(build_id);
  assert_outer(FIXTURES "/shapes_stripped", build_id, "shapes", folder->path, "");
  put_by_build_id(folder, "shapes.debug", build_id);
  assert_outer(FIXTURES "/shapes_stripped", build_id, "shapes", folder->path, "outer with line");
  assert_outer(FIXTURES "/shapes_stripped", "", "shapes", folder->path, "outer with line");
  /* The object itself is gone. */
  assert_outer("/nowhere/shapes", build_id, "shapes", folder->path, "outer with line");
}

static void test_wrong_debug_file_by_build_id(void **state) {
  struct folder *folder = *state;
  char build_id[129];
  shapes_build_id(build_id);
  put_by_build_id(folder, "shapes_dwarf4", build_id);
  assert_outer(FIXTURES "/shapes_stripped", build_id, "shapes", folder->path, "");
}

static void test_build_id_that_is_a_path(void **state) {
  struct folder *folder = *state;
  assert_outer("/nowhere/shapes", "../../../etc/passwd", "shapes", folder->path, "");
  assert_outer("/nowhere/shapes", "a", "shapes", folder->path, "");
}

static void test_debug_file_by_link(void **state) {
  static const char *const places[] = {"bin/shapes.debug", "bin/.debug/shapes.debug"};
  struct folder *folder = *state;
  make_folder(folder, "bin");
  make_folder(folder, "bin/.debug");
  put(folder, "shapes_linked", "bin/program");
  char path[512];
  snprintf(path, sizeof(path), "%s/bin/program", folder->path);
  assert_outer(path, "", "shapes", "/nowhere", "");
  for (size_t i = 0; i < 2; i++) {
    put(folder, "shapes.debug", places[i]);
    assert_outer(path, "", "shapes", "/nowhere", "outer with line");
    put(folder, "shapes_dwarf4", places[i]); /* another build */
    assert_outer(path, "", "shapes", "/nowhere", "");
    unlink(folder_path(folder, places[i]));
  }
}

/* Below the root: the object's own path, from the top. */
static void test_debug_file_by_link_below_the_root(void **state) {
  struct folder *folder = *state;
  char below[256];
  snprintf(below, sizeof(below), "%s/root%s", folder->path, folder->path);
  make_folders(below);
  put(folder, "shapes_linked", "program");
  char path[512];
  char root[512];
  char debug[256];
  snprintf(path, sizeof(path), "%s/program", folder->path);
  snprintf(root, sizeof(root), "%s/root", folder->path);
  snprintf(debug, sizeof(debug), "root%s/shapes.debug", folder->path);
  put(folder, "shapes.debug", debug);
  assert_outer(path, "", "shapes", root, "outer with line");
}

static void append_byte(const char *path) {
  FILE *file = fopen(path, "ae");
  assert_non_null(file);
  fputc('x', file);
  fclose(file);
}

static void test_checksum_decides_without_build_id(void **state) {
  struct folder *folder = *state;
  put(folder, "shapes_linked_by_sum", "program");
  put(folder, "shapes_no_build_id.debug", "shapes_no_build_id.debug");
  char path[512];
  snprintf(path, sizeof(path), "%s/program", folder->path);
  assert_outer(path, "", "shapes_no_build_id", "/nowhere", "outer with line");
  append_byte(folder_path(folder, "shapes_no_build_id.debug"));
  assert_outer(path, "", "shapes_no_build_id", "/nowhere", "");
}

static void test_what_is_no_object_file(void **state) {
  struct folder *folder = *state;
  assert_int_equal(mkfifo(folder_path(folder, "fifo"), 0600), 0);
  assert_outer(folder->file, "", "shapes", "/nowhere", ""); /* and nobody waits */
  assert_outer(folder->path, "", "shapes", "/nowhere", "");
  assert_outer("/dev/zero", "", "shapes", "/nowhere", "");
  assert_outer(FIXTURE_SOURCES "/shapes.c", "", "shapes", "/nowhere", "");
  assert_outer("/nowhere", "", "shapes", "/nowhere", "");
  assert_outer("shapes", "", "shapes", "/nowhere", "");
  assert_outer("", "", "shapes", "/nowhere", "");
  assert_outer("anon_inode:[perf_event]", "", "shapes", "/nowhere", "");
}

static size_t count_open_files(void) {
  size_t count = 0;
  DIR *directory = opendir("/proc/self/fd");
  assert_non_null(directory);
  while (readdir(directory) != NULL)
    count++;
  closedir(directory);
  return count;
}

/* A program has few descriptors: none is held while object files are open. */
static void test_no_descriptor_is_kept(void **state) {
  (void)state;
  static const char *const names[] = {
      "shapes",    "shapes_linked", "shapes_split", "boxes", "labels",
#ifdef HAVE_DWZ_FIXTURES
      "boxes_dwz",
#endif
  };
  enum {
    COUNT = sizeof(names) / sizeof(names[0])
  };
  struct object *objects[COUNT];
  const struct symbol_line *lines;
  size_t before = count_open_files();
  for (size_t i = 0; i < COUNT; i++) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", FIXTURES, names[i]);
    struct symbol_object mapped = {.path = path, .build_id = ""};
    objects[i] = object_open(&mapped, "/nowhere");
    assert_non_null(objects[i]);
    assert_true(object_has_symbols(objects[i]));
    for (uint64_t address = 0x1000; address < 0x1300; address++)
      object_find(objects[i], address, &lines);
  }
  assert_int_equal(count_open_files(), before);
  for (size_t i = 0; i < COUNT; i++)
    object_close(objects[i]);
  assert_int_equal(count_open_files(), before);
}

static char *read_fixture(const char *name, size_t *out_size) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", FIXTURES, name);
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  char *bytes = malloc(1 << 20);
  assert_non_null(bytes);
  *out_size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

/* Looks up every 16th byte of the code; whatever is found, nothing breaks. */
static void look_everywhere(const char *path) {
  struct symbol_object mapped = {.path = path, .build_id = ""};
  const struct symbol_line *lines;
  struct object *object = object_open(&mapped, "/nowhere");
  assert_non_null(object);
  for (uint64_t address = 0x1000; address < 0x1300; address += 16) {
    for (size_t i = object_find(object, address, &lines); i > 0; i--)
      assert_non_null(lines[i - 1].name);
  }
  object_close(object);
}

static void test_truncated_files(void **state) {
  struct folder *folder = *state;
  size_t size;
  char *bytes = read_fixture("shapes", &size);
  const char *path = folder_path(folder, "program");
  for (size_t part = 0; part < 64; part++) {
    write_file(path, bytes, size * part / 64);
    look_everywhere(path);
  }
  free(bytes);
}

static void test_damaged_files(void **state) {
  struct folder *folder = *state;
  size_t size;
  uint64_t random = 41;
  char *bytes = read_fixture("boxes", &size);
  char *copy = malloc(size);
  assert_non_null(copy);
  const char *path = folder_path(folder, "program");
  for (int i = 0; i < 400; i++) {
    memcpy(copy, bytes, size);
    for (int j = 0; j < 20; j++) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      /* The debug data lie in the second half. */
      copy[size / 2 + random % (size / 2)] = (char)(random >> 40);
    }
    write_file(path, copy, size);
    look_everywhere(path);
  }
  free(copy);
  free(bytes);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_build_id_is_compared),
      IN_FOLDER(test_deleted),
      IN_FOLDER(test_debug_file_by_build_id),
      IN_FOLDER(test_wrong_debug_file_by_build_id),
      IN_FOLDER(test_build_id_that_is_a_path),
      IN_FOLDER(test_debug_file_by_link),
      IN_FOLDER(test_debug_file_by_link_below_the_root),
      IN_FOLDER(test_checksum_decides_without_build_id),
      IN_FOLDER(test_what_is_no_object_file),
      cmocka_unit_test(test_no_descriptor_is_kept),
      IN_FOLDER(test_truncated_files),
      IN_FOLDER(test_damaged_files),
  };
  return cmocka_run_group_tests_name("symbolize_files", tests, NULL, NULL);
}
