#ifndef SYMBOLIZE_UNIT_H
#define SYMBOLIZE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "arena.h"
#include "interval_table.h"

/* A namespace, class or function that others stand in: they lie from start to end. */
struct scope {
  Dwarf_Die die;
  Dwarf_Off start, end; /* end is 0 when it is that of the scope around */
  uint32_t outer;       /* UNIT_NO_SCOPE: none */
};

#define UNIT_NO_SCOPE UINT32_MAX

/*
 * A compilation unit. Its DIEs are read once, when the first address in it is looked
 * up: libdw's own search walks the unit anew for each address.
 */
struct unit {
  Dwarf_Die die;  /* with the line table */
  Dwarf_Die tree; /* with the functions: the same, or what a .dwo file holds */
  bool is_indexed;
  bool is_cxx;
  bool is_version_5;
  struct interval_table functions; /* each value is a Dwarf_Die * */
  struct scope *scopes;            /* by ascending start */
  uint32_t scope_count, scope_max;
};

/* Reads the unit's DIEs unless they are read already. DIEs are kept in the arena. */
void unit_index(struct unit *unit, const struct interval_table *code, struct symbol_arena *dies);

void unit_fini(struct unit *unit);

/* The innermost scope around the DIE at an offset, which is not that DIE itself. */
uint32_t unit_scope_around(const struct unit *unit, Dwarf_Off offset);

/* Adds the code ranges of a DIE, except those of code that the linker left out. */
void unit_add_ranges(Dwarf_Die *die, const struct interval_table *code, const void *value,
                     struct interval_table *out);

/* All units of an object, those of a file that it shares with others behind its own. */
struct unit_set {
  struct unit *items;
  size_t count, max;
  struct interval_table code; /* sections with code */
  struct symbol_arena dies;
};

/* False when memory ran out. Pointers to units do not outlive it. */
bool unit_set_add(struct unit_set *set, const Dwarf_Die *die);

void unit_set_fini(struct unit_set *set);

/* The unit that a DIE is in, indexed: often `near`. NULL when it is in none of the set. */
struct unit *unit_set_find(struct unit_set *set, struct unit *near, Dwarf_Die *die);

#endif
