#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

/* No program nests its classes, functions and blocks deeper. */
#define MAX_NESTING 128

void unit_add_ranges(Dwarf_Die *die, const struct interval_table *code, const void *value,
                     struct interval_table *out) {
  Dwarf_Addr base;
  Dwarf_Addr start;
  Dwarf_Addr end;
  ptrdiff_t next = 0;
  while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
    /* Code that was left out has an address such as 0, 1 or -1. */
    const struct interval *section = interval_table_find(code, start);
    if (section != NULL && end <= section->end)
      interval_table_add(out, start, end, 0, value);
  }
}

/* Of later versions of DWARF than dwarf.h knows. */
enum {
  LANGUAGE_CXX_17 = 0x2b,
  LANGUAGE_CXX_20 = 0x2c,
};

static bool is_cxx_language(int language) {
  return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
         language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14 ||
         language == LANGUAGE_CXX_17 || language == LANGUAGE_CXX_20;
}

/* Sets what is known of the unit before its DIEs are read. */
static void find_tree(struct unit *unit) {
  Dwarf_Half version = 0;
  uint8_t type = 0;
  Dwarf_Die split = {0};
  unit->tree = unit->die;
  if (dwarf_cu_info(unit->die.cu, &version, &type, NULL, &split, NULL, NULL, NULL) != 0)
    return;
  unit->is_version_5 = version >= 5;
  if (type == DW_UT_skeleton && split.addr != NULL)
    unit->tree = split;
  unit->is_cxx = is_cxx_language(dwarf_srclang(&unit->tree));
}

/* Returns the scope's number, or UNIT_NO_SCOPE when memory ran out. */
static uint32_t scope_add(struct unit *unit, Dwarf_Die *die, uint32_t outer) {
  if (unit->scope_count == unit->scope_max) {
    uint32_t grown = unit->scope_max == 0 ? 64 : unit->scope_max * 2;
    struct scope *moved = reallocarray(unit->scopes, grown, sizeof(*moved));
    if (moved == NULL)
      return UNIT_NO_SCOPE;
    unit->scopes = moved;
    unit->scope_max = grown;
  }
  unit->scopes[unit->scope_count] = (struct scope){
      .die = *die,
      .start = dwarf_dieoffset(die),
      .outer = outer,
  };
  return unit->scope_count++;
}

struct walk {
  struct unit *unit;
  const struct interval_table *code;
  struct symbol_arena *dies;
};

/* A DIE on the way from the unit's own down to the one that is visited. */
struct step {
  Dwarf_Die die;
  uint32_t scope;  /* around it */
  uint32_t opened; /* the scope that begins with it, or UNIT_NO_SCOPE */
};

static void function_add(const struct walk *walk, Dwarf_Die *die) {
  if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
    return;
  Dwarf_Die *kept = symbol_arena_take(walk->dies, sizeof(*kept));
  if (kept == NULL)
    return;
  *kept = *die;
  unit_add_ranges(kept, walk->code, kept, &walk->unit->functions);
}

/* Takes what the DIE itself tells. Whether functions or scopes may be below it. */
static bool visit(const struct walk *walk, struct step *step) {
  step->opened = UNIT_NO_SCOPE;
  switch (dwarf_tag(&step->die)) {
  case DW_TAG_lexical_block:
    return true;
  case DW_TAG_subprogram:
    function_add(walk, &step->die);
    break;
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_class_type:
  case DW_TAG_structure_type:
  case DW_TAG_union_type:
  case DW_TAG_interface_type:
    break;
  default:
    return false;
  }
  if (dwarf_haschildren(&step->die) != 1)
    return false;
  step->opened = scope_add(walk->unit, &step->die, step->scope);
  return true;
}

/* Moves to the DIE after this one and what is below it, where its scope ends. */
static bool next_sibling(const struct walk *walk, struct step *step) {
  if (dwarf_siblingof(&step->die, &step->die) != 0)
    return false;
  if (step->opened != UNIT_NO_SCOPE)
    walk->unit->scopes[step->opened].end = dwarf_dieoffset(&step->die);
  return true;
}

static void walk_tree(const struct walk *walk, Dwarf_Die *root) {
  struct step steps[MAX_NESTING];
  size_t depth = 0;
  if (dwarf_child(root, &steps[0].die) != 0)
    return;
  steps[0].scope = UNIT_NO_SCOPE;
  for (;;) {
    struct step *step = &steps[depth];
    if (visit(walk, step) && depth + 1 < MAX_NESTING &&
        dwarf_child(&step->die, &step[1].die) == 0) {
      step[1].scope = step->opened != UNIT_NO_SCOPE ? step->opened : step->scope;
      depth++;
      continue;
    }
    while (!next_sibling(walk, &steps[depth])) {
      if (depth == 0)
        return;
      depth--;
    }
  }
}

void unit_index(struct unit *unit, const struct interval_table *code, struct symbol_arena *dies) {
  struct walk walk = {.unit = unit, .code = code, .dies = dies};
  if (unit->is_indexed)
    return;
  unit->is_indexed = true;
  find_tree(unit);
  walk_tree(&walk, &unit->tree);
  interval_table_seal(&unit->functions);
}

void unit_fini(struct unit *unit) {
  interval_table_fini(&unit->functions);
  free(unit->scopes);
}

/* Whether the scope, which begins before the offset, reaches past it. */
static bool scope_reaches(const struct unit *unit, uint32_t number, Dwarf_Off offset) {
  for (; number != UNIT_NO_SCOPE; number = unit->scopes[number].outer) {
    if (unit->scopes[number].end != 0)
      return offset < unit->scopes[number].end;
  }
  return true;
}

uint32_t unit_scope_around(const struct unit *unit, Dwarf_Off offset) {
  uint32_t low = 0;
  uint32_t high = unit->scope_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (unit->scopes[middle].start < offset)
      low = middle + 1;
    else
      high = middle;
  }
  uint32_t number = low - 1; /* UNIT_NO_SCOPE when none begins before */
  while (number != UNIT_NO_SCOPE && !scope_reaches(unit, number, offset))
    number = unit->scopes[number].outer;
  return number;
}

bool unit_set_add(struct unit_set *set, const Dwarf_Die *die) {
  if (set->count == set->max) {
    size_t grown = set->max == 0 ? 64 : set->max * 2;
    struct unit *moved = reallocarray(set->items, grown, sizeof(*moved));
    if (moved == NULL)
      return false;
    set->items = moved;
    set->max = grown;
  }
  set->items[set->count++] = (struct unit){.die = *die};
  return true;
}

void unit_set_fini(struct unit_set *set) {
  for (size_t i = 0; i < set->count; i++)
    unit_fini(&set->items[i]);
  free(set->items);
  interval_table_fini(&set->code);
  symbol_arena_clear(&set->dies);
}

struct unit *unit_set_find(struct unit_set *set, struct unit *near, Dwarf_Die *die) {
  Dwarf_Die unit_die;
  if (die->cu == near->tree.cu)
    return near;
  if (dwarf_diecu(die, &unit_die, NULL, NULL) == NULL)
    return NULL;
  for (size_t i = 0; i < set->count; i++) {
    if (set->items[i].die.addr == unit_die.addr) {
      unit_index(&set->items[i], &set->code, &set->dies);
      return &set->items[i];
    }
  }
  return NULL;
}
