#include "symbolize/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "debug_file.h"
#include "main_file.h"
#include "object.h"
#include "text_pool.h"

#define DEFAULT_CACHE_MAX 100000
#define MEAN_ENTRY_BYTES 512

/* More than an empty cache has. */
#define EMPTY_BYTES 65536

#define FIRST_SLOTS 1024

/* Open at once, each with its mapping; more than a program usually loads. */
#define MAX_OBJECTS 256

/* Of an object's name in brackets. */
#define NAME_BYTES 256

struct cached {
  uint32_t object;
  uintptr_t address;
  struct symbol symbol;
  struct symbol_line lines[];
};

struct known_object {
  uint32_t number;
  uint64_t last_used;
  bool is_nameless;             /* no address of it has a name */
  struct object *opened;        /* NULL: not now */
  const struct symbol *unknown; /* of a nameless one: in the cache, or NULL */
};

struct symbolizer {
  size_t cache_max;
  struct symbol_arena entries;
  struct text_pool texts;
  struct cached **slots; /* open addressing */
  size_t slot_count, count;
  struct known_object objects[MAX_OBJECTS];
  size_t object_count;
  uint64_t clock; /* counts the uses of objects */
};

static const struct symbol_line nowhere_line = {
    .name = "[unknown]", .linkage = "[unknown]", .file = ""};
static const struct symbol nowhere = {.lines = &nowhere_line, .line_count = 1};

struct symbolizer *symbolizer_create(size_t cache_max) {
  struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
  if (symbolizer == NULL)
    return NULL;
  elf_version(EV_CURRENT);
  symbolizer->cache_max = cache_max != 0 ? cache_max : DEFAULT_CACHE_MAX;
  return symbolizer;
}

/* Drops everything that was handed out. */
static void cache_clear(struct symbolizer *symbolizer) {
  symbol_arena_clear(&symbolizer->entries);
  text_pool_clear(&symbolizer->texts);
  free(symbolizer->slots);
  symbolizer->slots = NULL;
  symbolizer->slot_count = 0;
  symbolizer->count = 0;
  for (size_t i = 0; i < symbolizer->object_count; i++)
    symbolizer->objects[i].unknown = NULL;
}

void symbolizer_release_files(struct symbolizer *symbolizer) {
  for (size_t i = 0; i < symbolizer->object_count; i++) {
    object_close(symbolizer->objects[i].opened);
    symbolizer->objects[i].opened = NULL;
  }
}

void symbolizer_destroy(struct symbolizer *symbolizer) {
  if (symbolizer == NULL)
    return;
  symbolizer_release_files(symbolizer);
  cache_clear(symbolizer);
  free(symbolizer);
}

size_t symbolizer_memory_bytes(const struct symbolizer *symbolizer) {
  return sizeof(*symbolizer) + symbolizer->entries.bytes +
         text_pool_memory_bytes(&symbolizer->texts) +
         symbolizer->slot_count * sizeof(struct cached *);
}

static bool cache_is_full(const struct symbolizer *symbolizer) {
  return symbolizer->count >= symbolizer->cache_max ||
         symbolizer_memory_bytes(symbolizer) / MEAN_ENTRY_BYTES >=
             symbolizer->cache_max + EMPTY_BYTES / MEAN_ENTRY_BYTES;
}

static size_t slot_of(const struct symbolizer *symbolizer, uint32_t object, uintptr_t address) {
  uint64_t hash = ((uint64_t)address ^ (uint64_t)object << 48) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(hash >> 32) & (symbolizer->slot_count - 1);
}

/* The entry, or NULL. */
static const struct cached *cache_find(const struct symbolizer *symbolizer, uint32_t object,
                                       uintptr_t address) {
  if (symbolizer->slot_count == 0)
    return NULL;
  size_t at = slot_of(symbolizer, object, address);
  for (; symbolizer->slots[at] != NULL; at = (at + 1) & (symbolizer->slot_count - 1)) {
    const struct cached *entry = symbolizer->slots[at];
    if (entry->address == address && entry->object == object)
      return entry;
  }
  return NULL;
}

static void slot_put(struct symbolizer *symbolizer, struct cached *entry) {
  size_t at = slot_of(symbolizer, entry->object, entry->address);
  while (symbolizer->slots[at] != NULL)
    at = (at + 1) & (symbolizer->slot_count - 1);
  symbolizer->slots[at] = entry;
}

static bool slots_grow(struct symbolizer *symbolizer) {
  struct cached **old = symbolizer->slots;
  size_t old_count = symbolizer->slot_count;
  size_t grown = old_count == 0 ? FIRST_SLOTS : old_count * 2;
  struct cached **slots = calloc(grown, sizeof(struct cached *));
  if (slots == NULL)
    return false;
  symbolizer->slots = slots;
  symbolizer->slot_count = grown;
  for (size_t i = 0; i < old_count; i++) {
    if (old[i] != NULL)
      slot_put(symbolizer, old[i]);
  }
  free(old);
  return true;
}

/* Copies the lines with their texts; false when memory ran out. */
static bool lines_copy(struct symbolizer *symbolizer, const struct symbol_line *lines, size_t count,
                       struct symbol_line *out) {
  struct text_pool *texts = &symbolizer->texts;
  for (size_t i = 0; i < count; i++) {
    out[i] = lines[i];
    out[i].name = text_pool_add(texts, lines[i].name, strlen(lines[i].name));
    out[i].linkage = text_pool_add(texts, lines[i].linkage, strlen(lines[i].linkage));
    out[i].file = text_pool_add(texts, lines[i].file, strlen(lines[i].file));
    if (out[i].name == NULL || out[i].linkage == NULL || out[i].file == NULL)
      return false;
  }
  return true;
}

/* A symbol in the cache's memory, which counts as one of its entries; NULL: no memory. */
static struct cached *entry_create(struct symbolizer *symbolizer, const struct symbol_line *lines,
                                   size_t count, bool known) {
  struct cached *entry =
      symbol_arena_take(&symbolizer->entries, sizeof(*entry) + count * sizeof(*lines));
  if (entry == NULL || !lines_copy(symbolizer, lines, count, entry->lines))
    return NULL;
  entry->symbol = (struct symbol){.lines = entry->lines, .line_count = count, .known = known};
  symbolizer->count++;
  return entry;
}

/* The object's entry, for which the one used longest ago makes room. */
static struct known_object *object_get(struct symbolizer *symbolizer, uint32_t number) {
  struct known_object *oldest = &symbolizer->objects[0];
  for (size_t i = 0; i < symbolizer->object_count; i++) {
    struct known_object *known = &symbolizer->objects[i];
    if (known->number == number) {
      known->last_used = ++symbolizer->clock;
      return known;
    }
    if (known->last_used < oldest->last_used)
      oldest = known;
  }
  if (symbolizer->object_count < MAX_OBJECTS)
    oldest = &symbolizer->objects[symbolizer->object_count++];
  else
    object_close(oldest->opened);
  *oldest = (struct known_object){.number = number, .last_used = ++symbolizer->clock};
  return oldest;
}

/* Writes "[libgrpc.so.29]". */
static void bracket_name(const char *path, char out[NAME_BYTES]) {
  size_t length = main_file_path_length(path);
  size_t base = length;
  while (base > 0 && path[base - 1] != '/')
    base--;
  length -= base;
  if (length > NAME_BYTES - 3)
    length = NAME_BYTES - 3;
  bool is_bracketed = path[base] == '['; /* as "[vdso]" is */
  snprintf(out, NAME_BYTES, "%s%.*s%s", is_bracketed ? "" : "[", (int)length, path + base,
           is_bracketed ? "" : "]");
}

/* Looks the address up in the object's files; how many lines. */
static size_t search_files(struct known_object *known, const struct symbol_object *object,
                           uintptr_t address, const struct symbol_line **out) {
  if (known->opened == NULL) {
    known->opened = object_open(object, DEBUG_FILE_ROOT);
    if (known->opened == NULL)
      return 0;
    if (!object_has_symbols(known->opened)) {
      object_close(known->opened);
      known->opened = NULL;
      known->is_nameless = true;
      return 0;
    }
  }
  return object_find(known->opened, address - object->bias, out);
}

/* Finds the address in the files and puts what is found into the cache. */
static const struct symbol *find_uncached(struct symbolizer *symbolizer,
                                          const struct symbol_object *object, uintptr_t address) {
  struct known_object *known = object_get(symbolizer, object->number);
  if (known->unknown != NULL)
    return known->unknown;
  char name[NAME_BYTES];
  struct symbol_line unknown = {.name = name, .linkage = name, .file = ""};
  const struct symbol_line *lines = NULL;
  size_t count = known->is_nameless ? 0 : search_files(known, object, address, &lines);
  bool is_known = count > 0;
  if (!is_known) {
    bracket_name(object->path, name);
    lines = &unknown;
    count = 1;
  }
  if (symbolizer->count >= symbolizer->slot_count / 2 && !slots_grow(symbolizer))
    return &nowhere;
  struct cached *entry = entry_create(symbolizer, lines, count, is_known);
  if (entry == NULL)
    return &nowhere;
  if (known->is_nameless) {
    known->unknown = &entry->symbol;
  } else {
    entry->object = object->number;
    entry->address = address;
    slot_put(symbolizer, entry);
  }
  return &entry->symbol;
}

const struct symbol *symbolizer_find(struct symbolizer *symbolizer,
                                     const struct symbol_object *object, uintptr_t address) {
  if (object == NULL)
    return &nowhere;
  const struct cached *cached = cache_find(symbolizer, object->number, address);
  if (cached != NULL)
    return &cached->symbol;
  if (cache_is_full(symbolizer))
    cache_clear(symbolizer);
  return find_uncached(symbolizer, object, address);
}
