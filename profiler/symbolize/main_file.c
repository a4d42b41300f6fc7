#include "main_file.h"

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define DELETED " (deleted)"

static bool ends_with(const char *text, size_t length, const char *end) {
  size_t end_length = strlen(end);
  return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

size_t main_file_path_length(const char *path) {
  size_t length = strlen(path);
  return ends_with(path, length, DELETED) ? length - strlen(DELETED) : length;
}

/* Whether both are the same file, deleted or not. */
static bool same_path(const char *a, const char *b) {
  size_t length = main_file_path_length(a);
  return length == main_file_path_length(b) && memcmp(a, b, length) == 0;
}

/* Keeps the file only if it has the object's build id, or if that is not known. */
static bool open_same(const char *path, const struct symbol_object *object, struct elf_file *out) {
  char build_id[BUILD_ID_TEXT_BYTES];
  struct elf_file file;
  if (!elf_file_open(path, &file))
    return false;
  if (*object->build_id != '\0') {
    elf_file_build_id(&file, build_id);
    if (strcmp(build_id, object->build_id) != 0) {
      elf_file_close(&file);
      return false;
    }
  }
  *out = file;
  return true;
}

/* By its name. Without a build id, a deleted file's name may be another's by now. */
static bool open_by_name(const struct symbol_object *object, struct elf_file *out) {
  size_t length = main_file_path_length(object->path);
  bool is_deleted = object->path[length] != '\0';
  if (is_deleted && *object->build_id == '\0')
    return false;
  char *path = strndup(object->path, length);
  if (path == NULL)
    return false;
  bool opened = open_same(path, object, out);
  free(path);
  return opened;
}

static bool open_own_executable(const struct symbol_object *object, struct elf_file *out) {
  char path[PATH_MAX + 16];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length < 0)
    return false;
  path[length] = '\0';
  return same_path(path, object->path) && open_same("/proc/self/exe", object, out);
}

/* A line of /proc/self/maps: "start-end perms offset device inode   path". */
static bool parse_mapping(char *line, char out_range[64], const char **out_path) {
  int range_end = 0;
  int path_start = 0;
  line[strcspn(line, "\n")] = '\0';
  if (sscanf(line, "%*[0-9a-f]-%*[0-9a-f]%n %*s %*s %*s %*s %n", &range_end, &path_start) < 0 ||
      path_start == 0 || range_end >= 64)
    return false;
  memcpy(out_range, line, (size_t)range_end);
  out_range[range_end] = '\0';
  *out_path = line + path_start;
  return true;
}

/* Needs a capability: most programs cannot. */
static bool open_own_mapping(const struct symbol_object *object, struct elf_file *out) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char *line = NULL;
  size_t size = 0;
  bool opened = false;
  if (maps == NULL)
    return false;
  while (!opened && getline(&line, &size, maps) > 0) {
    char range[64];
    char path[96];
    const char *mapped;
    if (!parse_mapping(line, range, &mapped) || *mapped != '/' || !same_path(mapped, object->path))
      continue;
    snprintf(path, sizeof(path), "/proc/self/map_files/%s", range);
    opened = open_same(path, object, out);
    break;
  }
  free(line);
  fclose(maps);
  return opened;
}

/* The image's size by its own headers: the kernel maps the whole of it. */
static size_t vdso_size(const ElfW(Ehdr) * header) {
  const char *image = (const char *)header;
  size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
  const ElfW(Phdr) *segments = (const void *)(image + header->e_phoff);
  for (size_t i = 0; i < header->e_phnum; i++) {
    size_t end = segments[i].p_offset + segments[i].p_filesz;
    if (segments[i].p_type == PT_LOAD && end > size)
      size = end;
  }
  return size;
}

static bool open_vdso(const struct symbol_object *object, struct elf_file *out) {
  const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
  char build_id[BUILD_ID_TEXT_BYTES];
  struct elf_file file;
  if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      !elf_file_open_memory(header, vdso_size(header), &file))
    return false;
  elf_file_build_id(&file, build_id);
  if (*object->build_id != '\0' && strcmp(build_id, object->build_id) != 0) {
    elf_file_close(&file);
    return false;
  }
  *out = file;
  return true;
}

bool main_file_open(const struct symbol_object *object, struct elf_file *out) {
  if (strcmp(object->path, "[vdso]") == 0)
    return open_vdso(object, out);
  if (object->path[0] != '/')
    return false;
  return open_by_name(object, out) || open_own_executable(object, out) ||
         open_own_mapping(object, out);
}
