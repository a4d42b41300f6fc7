#ifndef SYMBOLIZE_SYMBOL_TABLE_H
#define SYMBOLIZE_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf_file.h"
#include "interval_table.h"

/*
 * The functions that an object file's own symbol table names. Names are the file's:
 * borrowed while it is open, and with their version, "memcpy@@GLIBC_2.14".
 */
struct symbol_table {
  struct interval_table sized;
  struct interval_table unsized; /* labels of assembly: up to their section's end */
};

/* A name and where its function begins. */
struct table_symbol {
  const char *name;
  size_t length; /* without the version */
  uint64_t start;
};

enum symbol_table_kind {
  SYMBOL_TABLE_FULL,    /* .symtab */
  SYMBOL_TABLE_DYNAMIC, /* .dynsym: what others may call */
};

/* Reads the table. False, and an empty one, when the file has none or it names no function. */
bool symbol_table_load(const struct elf_file *file, enum symbol_table_kind kind,
                       const struct interval_table *code, struct symbol_table *out);

/* Takes an empty one. */
void symbol_table_fini(struct symbol_table *table);

/*
 * The function at the address: a symbol whose size covers it, or one without a
 * size when no other symbol lies between. Of several names of one function the exported
 * one with the fewest underscores before it.
 */
bool symbol_table_find(const struct symbol_table *table, uint64_t address,
                       struct table_symbol *out);

/* A C++ name of the function that begins at the address. */
bool symbol_table_mangled(const struct symbol_table *table, uint64_t start,
                          struct table_symbol *out);

/*
 * An exported name of the function that begins at the address by which its callers
 * know it: "read" for "__libc_read". It is the shortest that `name` ends with, behind an
 * underscore.
 */
bool symbol_table_public_name(const struct symbol_table *table, uint64_t start, const char *name,
                              struct table_symbol *out);

#endif
