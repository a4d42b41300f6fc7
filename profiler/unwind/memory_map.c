#include "memory_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  READ_BYTES = 16 * 1024
};

/* Appends what the next read gives; false at the end or on failure. */
static bool read_more(struct page_buffer *text, int file) {
  size_t mark = text->bytes;
  char *to = page_buffer_add(text, READ_BYTES);
  if (to == NULL)
    return false;
  ssize_t got;
  do {
    got = read(file, to, READ_BYTES);
  } while (got < 0 && errno == EINTR);
  page_buffer_cut(text, mark + (got < 0 ? 0 : (size_t)got));
  return got > 0;
}

void memory_map_read(struct memory_map *map) {
  *map = (struct memory_map){0};
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  while (read_more(&map->text, file)) {
  }
  close(file);
  if (page_buffer_add(&map->text, 1) == NULL)
    page_buffer_free(&map->text);
}

/* "start-end rights offset device inode   path": whether the line is the address's. */
static bool line_holds(const char *line, uintptr_t address) {
  char *rest;
  uintptr_t start = strtoul(line, &rest, 16);
  if (*rest != '-')
    return false;
  uintptr_t end = strtoul(rest + 1, &rest, 16);
  return address >= start && address < end;
}

const char *memory_map_path(const struct memory_map *map, uintptr_t address, size_t *out_length) {
  const char *line = (const char *)map->text.data;
  while (line != NULL && *line != '\0') {
    size_t length = strcspn(line, "\n");
    if (line_holds(line, address)) {
      const char *path = memchr(line, '/', length);
      *out_length = path == NULL ? 0 : length - (size_t)(path - line);
      return path;
    }
    line += length + (line[length] == '\n' ? 1 : 0);
  }
  return NULL;
}

void memory_map_free(struct memory_map *map) {
  page_buffer_free(&map->text);
}
