#ifndef SYMBOLIZE_UNIT_NAMES_H
#define SYMBOLIZE_UNIT_NAMES_H

#include "unit.h"

/* The name that the linker sees, or NULL when the debug data do not say. */
const char *unit_linkage_name(Dwarf_Die *function);

/* The DIE that declares the function where it was written: in its namespace or class. */
Dwarf_Die unit_declaration(const Dwarf_Die *function);

/*
 * The function's name behind those of the scopes around its declaration, which lies in
 * `unit`: "ns::(anonymous namespace)::f". Composed in the arena; NULL when it has none.
 */
const char *unit_qualified_name(struct unit_set *set, struct unit *unit, Dwarf_Die *declaration,
                                struct symbol_arena *arena);

/*
 * The line of the class that the function is declared in: a lambda has no other. 0
 * when unknown, or when it is declared in no class.
 */
int64_t unit_class_line(const struct unit *unit, Dwarf_Die *declaration);

#endif
