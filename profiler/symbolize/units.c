#include "units.h"

#include <stdlib.h>

#include <dwarf.h>
#include <elfutils/libdwelf.h>

#include "debug_file.h"
#include "oom_guard.h"
#include "unit.h"
#include "unit_frames.h"
#include "unit_names.h"

struct units {
  Dwarf *dwarf;
  struct elf_file shared_file; /* what dwz took out of it, or empty */
  Dwarf *shared;
  struct unit_set set;
  struct interval_table ranges; /* each value is a struct unit * of the set */
  struct symbol_arena names;    /* composed by the last search */
  struct unit_chain chain;      /* of the last search, as are these: */
  struct source_frame frames[UNIT_MAX_FRAMES];
};

/* Type units have no code; partial ones are only referred to. */
static void find_units(struct units *units, Dwarf *dwarf) {
  Dwarf_CU *unit = NULL;
  Dwarf_Die die;
  uint8_t type;
  while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
    if ((type == DW_UT_compile || type == DW_UT_partial || type == DW_UT_skeleton) &&
        !unit_set_add(&units->set, &die))
      return;
  }
}

/* The addresses of the units, not from .debug_aranges: some compilers leave that out. */
static void find_ranges(struct units *units) {
  struct unit_set *set = &units->set;
  for (size_t i = 0; i < set->count; i++)
    unit_add_ranges(&set->items[i].die, &set->code, &set->items[i], &units->ranges);
  interval_table_seal(&units->ranges);
}

static void read_units(void *argument) {
  struct units *units = argument;
  find_units(units, units->dwarf);
  if (units->shared != NULL)
    find_units(units, units->shared);
  find_ranges(units);
}

/* libdw would open the file itself, and let programs that are started inherit it. */
static void open_shared(struct units *units, const char *path, const char *debug_root) {
  const char *name;
  const void *bits;
  char build_id[BUILD_ID_TEXT_BYTES];
  ssize_t size = dwelf_dwarf_gnu_debugaltlink(units->dwarf, &name, &bits);
  if (size <= 0 || path == NULL)
    return;
  elf_file_build_id_text(bits, (size_t)size, build_id);
  if (!debug_file_open_shared(debug_root, path, name, build_id, &units->shared_file))
    return;
  units->shared = dwarf_begin_elf(units->shared_file.elf, DWARF_C_READ, NULL);
  elf_file_release_fd(&units->shared_file);
  if (units->shared != NULL) {
    oom_guard_attach(units->shared);
    dwarf_setalt(units->dwarf, units->shared);
  }
}

struct units *units_open(struct elf_file *file, const char *debug_root) {
  struct units *units = calloc(1, sizeof(*units));
  if (units == NULL)
    return NULL;
  units->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
  elf_file_release_fd(file);
  if (units->dwarf != NULL) {
    oom_guard_attach(units->dwarf);
    open_shared(units, file->path, debug_root);
    elf_file_code(file, &units->set.code);
    if (oom_guard_run(read_units, units) != OOM_GUARD_DONE || units->ranges.failed ||
        units->ranges.count == 0) {
      units_close(units);
      return NULL;
    }
    return units;
  }
  units_close(units);
  return NULL;
}

void units_close(struct units *units) {
  if (units == NULL)
    return;
  unit_set_fini(&units->set);
  interval_table_fini(&units->ranges);
  symbol_arena_clear(&units->names);
  dwarf_end(units->dwarf);
  dwarf_end(units->shared);
  elf_file_close(&units->shared_file);
  free(units);
}

static struct unit *unit_at(struct units *units, uint64_t address) {
  const struct interval *range = interval_table_find(&units->ranges, address);
  if (range == NULL)
    return NULL;
  const struct unit *found = range->value;
  struct unit *unit = &units->set.items[found - units->set.items];
  unit_index(unit, &units->set.code, &units->set.dies);
  return unit;
}

/*
 * Mangled names carry their scopes; other names in C++ get them from where they
 * are declared.
 */
static void describe_cxx(struct units *units, struct unit *unit, Dwarf_Die *function,
                         struct source_frame *out) {
  Dwarf_Die declaration = unit_declaration(function);
  struct unit *home = unit_set_find(&units->set, unit, &declaration);
  if (home == NULL)
    return;
  if (out->linkage == NULL)
    out->name = unit_qualified_name(&units->set, home, &declaration, &units->names);
  if (out->start_line == 0)
    out->start_line = unit_class_line(home, &declaration);
}

static void describe(struct units *units, struct unit *unit, Dwarf_Die *function,
                     struct source_frame *out) {
  const char *file;
  int start_line = 0;
  Dwarf_Addr start = 0;
  dwarf_decl_line(function, &start_line);
  if (dwarf_tag(function) == DW_TAG_subprogram)
    dwarf_entrypc(function, &start);
  *out = (struct source_frame){
      .name = dwarf_diename(function),
      .linkage = unit_linkage_name(function),
      .start_line = start_line,
      .start = start,
      .is_cxx = unit->is_cxx,
  };
  if (out->is_cxx && (out->linkage == NULL || out->start_line == 0))
    describe_cxx(units, unit, function, out);
  if (out->start_line == 0 && start != 0) /* as of assembly */
    unit_line(unit, start, &file, &out->start_line);
}

size_t units_find(struct units *units, uint64_t address, const struct source_frame **out) {
  struct unit *unit = unit_at(units, address);
  struct unit_chain *chain = &units->chain;
  symbol_arena_clear(&units->names);
  if (unit == NULL || !unit_chain_find(unit, address, chain))
    return 0;
  for (size_t i = 0; i < chain->count; i++) {
    struct source_frame *frame = &units->frames[i];
    Dwarf_Die *function = &chain->dies[chain->count - 1 - i];
    describe(units, unit, function, frame);
    if (i == 0)
      unit_line(unit, address, &frame->file, &frame->line);
    else
      unit_call_site(unit, &chain->dies[chain->count - i], &frame->file, &frame->line);
    if (frame->file == NULL)
      frame->file = dwarf_decl_file(function);
  }
  *out = units->frames;
  return chain->count;
}

bool units_find_line(struct units *units, uint64_t address, const char **out_file,
                     int64_t *out_line) {
  struct unit *unit = unit_at(units, address);
  return unit != NULL && unit_line(unit, address, out_file, out_line);
}
