#include "unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>

#include "code_table.h"
#include "eh_frame.h"
#include "memory_map.h"
#include "module_list.h"
#include "objects.h"
#include "pages.h"
#include "publish.h"
#include "unwind/modules.h"

/* What the tables in force were made from. Touched by the caller of unwind_refresh(). */
static uint64_t refreshed_loads;
static uint64_t refreshed_unloads;
static uint64_t refresh_count; /* 0: never */

/* A refresh under way. */
struct refresh {
  uint64_t number;
  struct object_list objects;
  struct page_buffer frames; /* of one object at a time */
  struct code_table_builder builder;
  struct memory_map map;
  bool has_map;
};

/* FNV-1a over the entries: what follows them may be data that changes. */
static uint64_t hash_of(const struct eh_frame *frames) {
  struct eh_frame_position end = {0};
  struct fde fde;
  while (eh_frame_next(frames, &end, &fde)) {
  }
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < end.offset && i < frames->size; i++)
    hash = (hash ^ frames->bytes[i]) * 0x100000001b3;
  return hash;
}

static struct module_entry *add(struct refresh *refresh, const struct object *object,
                                uint64_t hash) {
  if (!refresh->has_map)
    memory_map_read(&refresh->map);
  refresh->has_map = true;
  return module_list_add(object, object_list_name(&refresh->objects, object), hash, &refresh->map);
}

/* Finds or makes the entry of an object, with its table. Returns 0, or -1 when memory ran out. */
static int enter(struct refresh *refresh, const struct object *object) {
  const char *name = object_list_name(&refresh->objects, object);
  bool has_id = object->build_id_bytes > 0;
  struct eh_frame frames = {0};
  if (!has_id && object_copy_frames(object, &refresh->frames, &frames) != 0)
    return -1;
  uint64_t hash = has_id ? 0 : hash_of(&frames);
  struct module_entry *entry = module_list_find(object, name, hash);
  if (entry == NULL && module_list_is_full())
    return 0;
  if (entry == NULL && (entry = add(refresh, object, hash)) == NULL)
    return -1;
  if (entry->module.unloaded && entry->table == NULL) {
    if (has_id && object_copy_frames(object, &refresh->frames, &frames) != 0)
      return -1;
    if (code_table_build(&refresh->builder, &frames, object->start, object->end, &entry->table) !=
        0)
      return -1;
  }
  entry->seen = refresh->number;
  return 0;
}

static void insert_region(struct snapshot *snapshot, const struct module_entry *entry) {
  size_t at = snapshot->count++;
  while (at > 0 && snapshot->regions[at - 1].start > entry->module.start) {
    snapshot->regions[at] = snapshot->regions[at - 1];
    at--;
  }
  snapshot->regions[at] = (struct region){.start = entry->module.start,
                                          .end = entry->module.end,
                                          .table = entry->table,
                                          .module = entry->module.number};
}

static struct snapshot *make_snapshot(uint64_t seen, size_t max_count) {
  struct snapshot *snapshot = snapshot_create(max_count);
  if (snapshot == NULL)
    return NULL;
  for (uint32_t i = 0; i < module_list_count(); i++)
    if (module_list_at(i)->seen == seen)
      insert_region(snapshot, module_list_at(i));
  return snapshot;
}

/* Marks what is loaded, after the snapshot without the rest was published. */
static void retire_unseen(uint64_t seen) {
  for (uint32_t i = 0; i < module_list_count(); i++) {
    struct module_entry *entry = module_list_at(i);
    entry->module.unloaded = entry->seen != seen;
    if (!entry->module.unloaded || entry->table == NULL)
      continue;
    publish_retire(&entry->table->retired);
    entry->table = NULL;
  }
}

static int refresh_all(struct refresh *refresh) {
  if (object_list_read(&refresh->objects) != 0)
    return -1;
  size_t count = object_list_count(&refresh->objects);
  for (size_t i = 0; i < count; i++)
    if (enter(refresh, object_list_at(&refresh->objects, i)) != 0)
      return -1;
  struct snapshot *snapshot = make_snapshot(refresh->number, count);
  if (snapshot == NULL)
    return -1;
  publish(snapshot);
  retire_unseen(refresh->number);
  refreshed_loads = refresh->objects.loads;
  refreshed_unloads = refresh->objects.unloads;
  return 0;
}

bool modules_changed(void) {
  uint64_t loads;
  uint64_t unloads;
  object_counts(&loads, &unloads);
  return publish_current() == NULL || loads != refreshed_loads || unloads != refreshed_unloads;
}

/*
 * Walks once the long way, so that the dynamic linker has bound the system's functions
 * that handlers call, and the code is in memory.
 */
static void warm_up(void) {
  const struct unwind_stack unknown = {0, 0};
  struct unwind_start start = unwind_here();
  uintptr_t pcs[8];
  enum unwind_end end;
  unwind_walk(&start, &unknown, pcs, sizeof(pcs) / sizeof(pcs[0]), &end);
}

int unwind_refresh(void) {
  int result = 0;
  if (modules_changed()) {
    struct refresh refresh = {.number = ++refresh_count};
    result = refresh_all(&refresh);
    memory_map_free(&refresh.map);
    code_table_builder_free(&refresh.builder);
    page_buffer_free(&refresh.frames);
    object_list_free(&refresh.objects);
    warm_up();
  }
  publish_reclaim();
  return result;
}

void unwind_release(void) {
  publish_release();
  module_list_release();
}

size_t unwind_memory_bytes(void) {
  return pages_held() + module_list_bytes();
}
