#ifndef SYMBOLIZE_UNITS_H
#define SYMBOLIZE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "interval_table.h"

/* The debug data of one object. Calls belong inside a guard (oom_guard.h). */
struct units;

/* A function at an address, inlined or not. Strings are borrowed until the next search. */
struct source_frame {
  const char *name;    /* with its namespaces and classes in C++; NULL when it has none */
  const char *linkage; /* NULL when the debug data do not say */
  const char *file;    /* NULL when unknown */
  int64_t line, start_line;
  uint64_t start; /* of the function's code; 0 for an inlined one */
  bool is_cxx;
};

/*
 * Reads where the units' code lies. NULL when there are no debug data or memory
 * ran out. The file is borrowed, must outlive the result, and loses its descriptor.
 * `debug_root` is the folder of separate debug files.
 */
struct units *units_open(struct elf_file *file, const char *debug_root);

/* Takes NULL. Needs no guard. */
void units_close(struct units *units);

/* The frames at the address, innermost first; how many, 0 when no function is known. */
size_t units_find(struct units *units, uint64_t address, const struct source_frame **out);

/* The line at the address. False when it is unknown. */
bool units_find_line(struct units *units, uint64_t address, const char **out_file,
                     int64_t *out_line);

#endif
