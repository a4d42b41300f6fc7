#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names for addresses, by libdw, in ordinary threads only, with half a MiB of stack to
 * spare (C++ names). Results are cached within a bound; object files are opened when the
 * first address in them is looked up. Debug data come from the object file, from
 * /usr/lib/debug by build id, or from where .gnu_debuglink points; never from the
 * network. What fails is unknown, not an error. One thread at a time uses a
 * symbolizer.
 */
struct symbolizer;

/* An object file that was mapped; strings are borrowed for the call. */
struct symbol_object {
  uint32_t number;  /* identifies the object: the key of the cache */
  const char *path; /* as in /proc/self/maps; " (deleted)" at the end is understood; "[vdso]" */
  const char
      *build_id;  /* lower-case hex of what was mapped, or "": a file with another is not used */
  uintptr_t bias; /* run-time address - address in the file */
};

/* One function at an address; strings are borrowed as the symbol is. */
struct symbol_line {
  const char *name;    /* demangled; "[libgrpc.so.29]" when unknown; never NULL */
  const char *linkage; /* as the linker sees it (mangled), equal to name where there is no other */
  const char *file;    /* "" when unknown */
  int64_t line;        /* 0 when unknown */
  int64_t start_line;  /* of the function; 0 when unknown */
};

struct symbol {
  const struct symbol_line *lines; /* innermost inlined function first; at least one */
  size_t line_count;
  bool known; /* false: the only line is the object's name in brackets */
};

/*
 * Returns an owned symbolizer, or NULL when memory ran out. `cache_max` is how many
 * addresses it keeps, with 512 bytes each on average; 0 is 100,000.
 */
struct symbolizer *symbolizer_create(size_t cache_max);

/* Takes NULL. */
void symbolizer_destroy(struct symbolizer *symbolizer);

/*
 * The function(s) that contain the instruction at `address` (a run-time address; the
 * caller has already gone one byte back from a return address). Borrowed until
 * the next call with another address when the cache is full, else for the symbolizer's
 * life. Never NULL. With NULL for the object it is "[unknown]".
 */
const struct symbol *symbolizer_find(struct symbolizer *symbolizer,
                                     const struct symbol_object *object, uintptr_t address);

/*
 * Closes the object files and frees their debug data, some 10 MB for libc's; what is in the
 * cache stays. They are opened again when another address in them is looked up.
 */
void symbolizer_release_files(struct symbolizer *symbolizer);

/* Bytes held by the cache (an estimate that leaves libdw's own out). */
size_t symbolizer_memory_bytes(const struct symbolizer *symbolizer);

#endif
