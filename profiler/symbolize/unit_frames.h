#ifndef SYMBOLIZE_UNIT_FRAMES_H
#define SYMBOLIZE_UNIT_FRAMES_H

#include "unit.h"
#include "units.h"

/* The chain of functions at an address: a function, and what was inlined into it. */
#define UNIT_MAX_FRAMES 256

struct unit_chain {
  Dwarf_Die dies[UNIT_MAX_FRAMES]; /* the outermost first */
  size_t count;
};

/* Finds the chain in the unit. Deeper ones are cut inside. False when no function is there. */
bool unit_chain_find(struct unit *unit, uint64_t address, struct unit_chain *out);

/* The line at an address of the unit. */
bool unit_line(struct unit *unit, uint64_t address, const char **out_file, int64_t *out_line);

/* Where an inlined function was called. */
void unit_call_site(struct unit *unit, Dwarf_Die *inlined, const char **out_file,
                    int64_t *out_line);

#endif
