#include "object.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "debug_file.h"
#include "demangle.h"
#include "elf_file.h"
#include "main_file.h"
#include "oom_guard.h"
#include "symbol_table.h"
#include "unit_frames.h"
#include "units.h"

struct object {
  struct elf_file main;
  struct elf_file debug; /* a separate one, or empty */
  struct symbol_table symbols;
  struct units *units;       /* NULL: no debug data */
  struct symbol_arena names; /* made by the last search */
  struct symbol_line lines[UNIT_MAX_FRAMES];
};

static void open_debug_file(struct object *object, const struct symbol_object *from,
                            const char *debug_root) {
  char build_id[BUILD_ID_TEXT_BYTES] = "";
  const char *known = from->build_id;
  if (*known == '\0' && object->main.elf != NULL) {
    elf_file_build_id(&object->main, build_id);
    known = build_id;
  }
  char *path = strndup(from->path, main_file_path_length(from->path));
  if (path != NULL)
    debug_file_open(debug_root, &object->main, path, known, &object->debug);
  free(path);
}

static bool load_symbols(struct object *object, const struct elf_file *file,
                         enum symbol_table_kind kind) {
  struct interval_table code = {0};
  if (file->elf == NULL)
    return false;
  elf_file_code(file, &code);
  bool loaded = symbol_table_load(file, kind, &code, &object->symbols);
  interval_table_fini(&code);
  return loaded;
}

struct object *object_open(const struct symbol_object *from, const char *debug_root) {
  struct object *object = calloc(1, sizeof(*object));
  if (object == NULL)
    return NULL;
  main_file_open(from, &object->main);
  if (object->main.elf != NULL && elf_file_has_debug_data(&object->main)) {
    object->units = units_open(&object->main, debug_root);
  } else {
    open_debug_file(object, from, debug_root);
    if (object->debug.elf != NULL)
      object->units = units_open(&object->debug, debug_root);
  }
  if (!load_symbols(object, &object->main, SYMBOL_TABLE_FULL) &&
      !load_symbols(object, &object->debug, SYMBOL_TABLE_FULL))
    load_symbols(object, &object->main, SYMBOL_TABLE_DYNAMIC);
  elf_file_release_fd(&object->main);
  elf_file_release_fd(&object->debug);
  return object;
}

void object_close(struct object *object) {
  if (object == NULL)
    return;
  units_close(object->units);
  symbol_table_fini(&object->symbols);
  symbol_arena_clear(&object->names);
  elf_file_close(&object->main);
  elf_file_close(&object->debug);
  free(object);
}

bool object_has_symbols(const struct object *object) {
  return object->units != NULL || object->symbols.sized.count > 0 ||
         object->symbols.unsized.count > 0;
}

/* A copy that lasts until the next search; "" when memory ran out. */
static const char *keep(struct object *object, const char *text, size_t length) {
  char *copy = symbol_arena_take(&object->names, length + 1);
  if (copy == NULL)
    return "";
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

static const char *keep_symbol(struct object *object, const struct table_symbol *symbol) {
  return keep(object, symbol->name, symbol->length);
}

/* The readable form of a linker's name, which may be the name itself. */
static const char *readable(struct object *object, const char *linkage) {
  char *demangled = demangle(linkage);
  if (demangled == NULL)
    return linkage;
  const char *kept = keep(object, demangled, strlen(demangled));
  free(demangled);
  return kept;
}

/*
 * Names of a frame that has debug data. In C++ the mangled name tells all. C
 * libraries define their functions by inner names (__libc_read): the reader knows them by
 * those that they export.
 */
static void set_names(struct object *object, const struct source_frame *frame,
                      struct symbol_line *out) {
  struct table_symbol symbol;
  const char *name = frame->name;
  const char *linkage = frame->linkage;
  if (linkage != NULL && (name == NULL || strncmp(linkage, "_Z", 2) == 0))
    name = readable(object, linkage);
  if (name == NULL)
    name = "<unnamed>";
  if (linkage == NULL && frame->is_cxx && frame->start != 0 &&
      symbol_table_mangled(&object->symbols, frame->start, &symbol))
    linkage = keep_symbol(object, &symbol);
  if (linkage == NULL)
    linkage = name;
  if (!frame->is_cxx && frame->start != 0 &&
      symbol_table_public_name(&object->symbols, frame->start, name, &symbol))
    name = keep_symbol(object, &symbol);
  out->name = name;
  out->linkage = linkage;
}

static size_t find_in_units(struct object *object, uint64_t address) {
  const struct source_frame *frames;
  size_t count = units_find(object->units, address, &frames);
  for (size_t i = 0; i < count; i++) {
    set_names(object, &frames[i], &object->lines[i]);
    object->lines[i].file = frames[i].file != NULL ? frames[i].file : "";
    object->lines[i].line = frames[i].line;
    object->lines[i].start_line = frames[i].start_line;
  }
  return count;
}

/* By the symbol table, with the line if the debug data have it: as of assembly. */
static size_t find_in_symbols(struct object *object, uint64_t address) {
  struct table_symbol symbol;
  struct symbol_line *line = &object->lines[0];
  const char *file = NULL;
  if (!symbol_table_find(&object->symbols, address, &symbol))
    return 0;
  *line = (struct symbol_line){.linkage = keep_symbol(object, &symbol), .file = ""};
  line->name = readable(object, line->linkage);
  if (object->units == NULL)
    return 1;
  units_find_line(object->units, symbol.start, &file, &line->start_line);
  if (units_find_line(object->units, address, &file, &line->line) && file != NULL)
    line->file = file;
  return 1;
}

struct search {
  struct object *object;
  uint64_t address;
  size_t count;
};

static void run_search(void *argument) {
  struct search *search = argument;
  if (search->object->units != NULL)
    search->count = find_in_units(search->object, search->address);
  if (search->count == 0)
    search->count = find_in_symbols(search->object, search->address);
}

size_t object_find(struct object *object, uint64_t address, const struct symbol_line **out) {
  struct search search = {.object = object, .address = address};
  symbol_arena_clear(&object->names);
  switch (oom_guard_run(run_search, &search)) {
  case OOM_GUARD_DONE:
    *out = object->lines;
    return search.count;
  case OOM_GUARD_BROKEN: /* from now on by the symbol table alone */
    units_close(object->units);
    object->units = NULL;
    break;
  case OOM_GUARD_NOT_RUN:
    break;
  }
  return 0;
}
