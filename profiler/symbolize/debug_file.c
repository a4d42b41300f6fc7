#include "debug_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwelf.h>
#include <zlib.h>

/* What an object file says about its debug file. */
struct link {
  const char *build_id;
  const char *name; /* NULL: no .gnu_debuglink */
  GElf_Word checksum;
};

static bool checksum_is(const struct elf_file *file, GElf_Word expected) {
  size_t size;
  const char *bytes = elf_rawfile(file->elf, &size);
  return bytes != NULL && crc32_z(0, (const Bytef *)bytes, size) == expected;
}

static bool is_of(const struct elf_file *file, const struct link *link) {
  char build_id[BUILD_ID_TEXT_BYTES];
  elf_file_build_id(file, build_id);
  if (*build_id != '\0' && *link->build_id != '\0')
    return strcmp(build_id, link->build_id) == 0;
  return link->name != NULL && checksum_is(file, link->checksum);
}

/* Opens the file; takes and frees the path, which may be NULL. */
static bool open_candidate(char *path, const struct link *link, struct elf_file *out) {
  struct elf_file file;
  bool opened = path != NULL && elf_file_open(path, &file);
  free(path);
  if (!opened)
    return false;
  if (!elf_file_has_debug_data(&file) || !is_of(&file, link)) {
    elf_file_close(&file);
    return false;
  }
  *out = file;
  return true;
}

/* Formats a path; NULL when memory ran out. Owned. */
__attribute__((format(printf, 1, 2))) static char *path_make(const char *format, ...) {
  char *path;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&path, format, arguments);
  va_end(arguments);
  return length >= 0 ? path : NULL;
}

static bool open_by_build_id(const char *root, const struct link *link, struct elf_file *out) {
  const char *id = link->build_id;
  if (strlen(id) < 3 || id[strspn(id, "0123456789abcdef")] != '\0')
    return false;
  return open_candidate(path_make("%s/.build-id/%.2s/%s.debug", root, id, id + 2), link, out);
}

static bool open_by_name(const char *root, const char *path, const struct link *link,
                         struct elf_file *out) {
  const char *slash = strrchr(path, '/');
  if (link->name == NULL || *link->name == '\0' || strchr(link->name, '/') != NULL || slash == NULL)
    return false;
  int folder = (int)(slash - path);
  const char *name = link->name;
  return open_candidate(path_make("%.*s/%s", folder, path, name), link, out) ||
         open_candidate(path_make("%.*s/.debug/%s", folder, path, name), link, out) ||
         open_candidate(path_make("%s%.*s/%s", root, folder, path, name), link, out);
}

bool debug_file_open(const char *root, const struct elf_file *main, const char *path,
                     const char *build_id, struct elf_file *out) {
  struct link link = {.build_id = build_id};
  if (main->elf != NULL)
    link.name = dwelf_elf_gnu_debuglink(main->elf, &link.checksum);
  return open_by_build_id(root, &link, out) || open_by_name(root, path, &link, out);
}

bool debug_file_open_shared(const char *root, const char *path, const char *name,
                            const char *build_id, struct elf_file *out) {
  struct link link = {.build_id = build_id};
  const char *slash = strrchr(path, '/');
  int folder = slash != NULL && *name != '/' ? (int)(slash - path) + 1 : 0;
  return open_by_build_id(root, &link, out) ||
         open_candidate(path_make("%.*s%s", folder, path, name), &link, out);
}
