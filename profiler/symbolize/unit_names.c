#include "unit_names.h"

#include <string.h>

#include <dwarf.h>

/* From an inlined copy over its abstract instance to the declaration in a class: a few steps. */
#define MAX_REFERENCES 16

#define MAX_SCOPES 64

const char *unit_linkage_name(Dwarf_Die *function) {
  Dwarf_Attribute attribute;
  const char *name =
      dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
  if (name == NULL)
    name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute));
  return name;
}

Dwarf_Die unit_declaration(const Dwarf_Die *function) {
  Dwarf_Die die = *function;
  for (int i = 0; i < MAX_REFERENCES; i++) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == NULL &&
         dwarf_attr(&die, DW_AT_specification, &attribute) == NULL) ||
        dwarf_formref_die(&attribute, &next) == NULL)
      break;
    die = next;
  }
  return die;
}

/* A scope's name, or what stands for it. */
static const char *scope_name(Dwarf_Die *scope, const char *function) {
  const char *name = dwarf_diename(scope);
  if (name != NULL)
    return name;
  if (dwarf_tag(scope) == DW_TAG_namespace)
    return "(anonymous namespace)";
  return strcmp(function, "operator()") == 0 ? "{lambda}" : "{unnamed}";
}

/* A scope of one of the units. */
struct place {
  struct unit *unit;
  uint32_t scope; /* UNIT_NO_SCOPE: outside of all */
};

static struct place place_around(struct unit *unit, Dwarf_Die *die) {
  return (struct place){.unit = unit, .scope = unit_scope_around(unit, dwarf_dieoffset(die))};
}

/*
 * The scope around this one. A function that is defined outside of its class is
 * looked for where the class declares it, which may be in another unit.
 */
static struct place place_outside(struct unit_set *set, struct place place) {
  const struct scope *scope = &place.unit->scopes[place.scope];
  Dwarf_Die declaration = unit_declaration(&scope->die);
  struct unit *home = unit_set_find(set, place.unit, &declaration);
  if (home == NULL || declaration.addr == scope->die.addr)
    return (struct place){.unit = place.unit, .scope = scope->outer};
  return place_around(home, &declaration);
}

const char *unit_qualified_name(struct unit_set *set, struct unit *unit, Dwarf_Die *declaration,
                                struct symbol_arena *arena) {
  const char *name = dwarf_diename(declaration);
  const char *parts[MAX_SCOPES];
  size_t count = 0;
  if (name == NULL)
    return NULL;
  size_t length = strlen(name) + 1;
  struct place place = place_around(unit, declaration);
  for (; place.scope != UNIT_NO_SCOPE && count < MAX_SCOPES; place = place_outside(set, place)) {
    parts[count] = scope_name(&place.unit->scopes[place.scope].die, name);
    length += strlen(parts[count++]) + 2;
  }
  char *composed = symbol_arena_take(arena, length);
  if (composed == NULL)
    return name;
  char *at = composed;
  for (; count > 0; count--) {
    at = mempcpy(at, parts[count - 1], strlen(parts[count - 1]));
    at = mempcpy(at, "::", 2);
  }
  memcpy(at, name, strlen(name) + 1);
  return composed;
}

int64_t unit_class_line(const struct unit *unit, Dwarf_Die *declaration) {
  int line = 0;
  uint32_t scope = unit_scope_around(unit, dwarf_dieoffset(declaration));
  if (scope == UNIT_NO_SCOPE)
    return 0;
  Dwarf_Die die = unit->scopes[scope].die;
  int tag = dwarf_tag(&die);
  if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
    dwarf_decl_line(&die, &line);
  return line;
}
