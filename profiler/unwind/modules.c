#include "module_list.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "publish.h"

enum {
  MAX_MODULES = 65536,
  FIRST_MODULES = 64,
  MAX_PATH_BYTES = 4096
};

static struct module_entry **entries;
static uint32_t entry_count;
static uint32_t entry_room;
static atomic_size_t entry_bytes; /* statistics alone: relaxed */

static void hex_of(const struct object *object, char *out) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < object->build_id_bytes; i++) {
    *out++ = digits[object->build_id[i] >> 4];
    *out++ = digits[object->build_id[i] & 15];
  }
  *out = '\0';
}

static bool is_same(const struct module_entry *entry, const struct object *object, const char *name,
                    const char *build_id, uint64_t frames_hash) {
  return entry->module.start == object->start && entry->module.end == object->end &&
         entry->module.bias == object->bias && strcmp(entry->loader_name, name) == 0 &&
         strcmp(entry->module.build_id, build_id) == 0 &&
         (object->build_id_bytes > 0 || entry->frames_hash == frames_hash);
}

struct module_entry *module_list_find(const struct object *object, const char *name,
                                      uint64_t frames_hash) {
  char build_id[2 * BUILD_ID_MAX_BYTES + 1];
  hex_of(object, build_id);
  for (uint32_t i = 0; i < entry_count; i++)
    if (is_same(entries[i], object, name, build_id, frames_hash))
      return entries[i];
  return NULL;
}

static int make_room(void) {
  if (entry_count < entry_room)
    return 0;
  uint32_t room = entry_room == 0 ? FIRST_MODULES : entry_room * 2;
  struct module_entry **larger = malloc(room * sizeof(struct module_entry *));
  if (larger == NULL)
    return -1;
  if (entry_count > 0)
    memcpy(larger, entries, entry_count * sizeof(struct module_entry *));
  free(entries);
  entries = larger;
  entry_room = room;
  return 0;
}

static char *main_path(void) {
  char path[MAX_PATH_BYTES];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  return length <= 0 ? strdup("") : strndup(path, (size_t)length);
}

/* An owned string, or NULL. */
static char *path_of(const struct object *object, const char *name, const struct memory_map *map) {
  if (object->is_vdso)
    return strdup("[vdso]");
  size_t length;
  const char *mapped = memory_map_path(map, object->start, &length);
  if (mapped != NULL)
    return strndup(mapped, length);
  return object->is_main ? main_path() : strdup(name);
}

static void entry_free(struct module_entry *entry) {
  if (entry == NULL)
    return;
  free((void *)(uintptr_t)entry->module.path);
  free((void *)(uintptr_t)entry->module.build_id);
  free(entry->loader_name);
  code_table_free(entry->table);
  free(entry);
}

static size_t entry_size(const struct module_entry *entry) {
  return sizeof(*entry) + strlen(entry->module.path) + strlen(entry->module.build_id) +
         strlen(entry->loader_name) + 3;
}

static struct module_entry *entry_create(const struct object *object, const char *name,
                                         uint64_t frames_hash, const struct memory_map *map) {
  struct module_entry *entry = calloc(1, sizeof(*entry));
  if (entry == NULL)
    return NULL;
  char build_id[2 * BUILD_ID_MAX_BYTES + 1];
  hex_of(object, build_id);
  entry->loader_name = strdup(name);
  entry->frames_hash = frames_hash;
  entry->module = (struct module){
      .path = path_of(object, name, map),
      .build_id = strdup(build_id),
      .start = object->start,
      .end = object->end,
      .bias = object->bias,
      .file_offset = object->file_offset,
      .unloaded = true,
  };
  if (entry->loader_name != NULL && entry->module.path != NULL && entry->module.build_id != NULL)
    return entry;
  entry_free(entry);
  return NULL;
}

struct module_entry *module_list_add(const struct object *object, const char *name,
                                     uint64_t frames_hash, const struct memory_map *map) {
  if (module_list_is_full() || make_room() != 0)
    return NULL;
  struct module_entry *entry = entry_create(object, name, frames_hash, map);
  if (entry == NULL)
    return NULL;
  entry->module.number = entry_count;
  entries[entry_count++] = entry;
  atomic_fetch_add_explicit(&entry_bytes, entry_size(entry), memory_order_relaxed);
  return entry;
}

bool module_list_is_full(void) {
  return entry_count == MAX_MODULES;
}

uint32_t module_list_count(void) {
  return entry_count;
}

struct module_entry *module_list_at(uint32_t number) {
  return entries[number];
}

size_t module_list_bytes(void) {
  return atomic_load_explicit(&entry_bytes, memory_order_relaxed);
}

void module_list_release(void) {
  for (uint32_t i = 0; i < entry_count; i++)
    entry_free(entries[i]);
  free(entries);
  entries = NULL;
  entry_count = 0;
  entry_room = 0;
  atomic_store_explicit(&entry_bytes, 0, memory_order_relaxed);
}

const struct module *module_at(uint32_t number) {
  return number < entry_count ? &entries[number]->module : NULL;
}

const struct module *module_find(uintptr_t address) {
  const struct region *region = snapshot_find(publish_current(), address);
  if (region != NULL)
    return module_at(region->module);
  const struct module_entry *latest = NULL;
  for (uint32_t i = 0; i < entry_count; i++) {
    const struct module_entry *entry = entries[i];
    if (address >= entry->module.start && address < entry->module.end &&
        (latest == NULL || entry->seen >= latest->seen))
      latest = entry;
  }
  return latest == NULL ? NULL : &latest->module;
}
