#ifndef UNWIND_MODULES_H
#define UNWIND_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The loaded objects (executable, shared libraries, vdso), including those that
 * were unloaded since: a module's number is never given to another object, so an
 * address stays what it was when it was sampled. An object that comes back the same to
 * the same place has its number again. At most 65,536 are kept; later ones stay unknown, as do
 * those of other namespaces (dlmopen).
 */
struct module {
  uint32_t number;      /* 0 is the main program; ascending in the order of discovery */
  const char *path;     /* as in /proc/self/maps, perhaps with " (deleted)"; "[vdso]" */
  const char *build_id; /* lower-case hex, "" when it has none */
  uintptr_t start, end; /* addresses of its executable segment(s), [start, end) */
  uintptr_t bias;       /* run-time address - address in the file */
  uint64_t file_offset; /* of the executable segment that holds `start` */
  bool unloaded;
};

/*
 * The module whose code held `address` at the last unwind_refresh(), or, when none
 * does now, the last that ever did; NULL when there was none. The pointer stays valid until
 * unwind_release(). Ordinary threads; the same caller as unwind_refresh(), or serialized with it.
 */
const struct module *module_find(uintptr_t address);

/* By number; NULL past the last. */
const struct module *module_at(uint32_t number);

/*
 * Whether objects were loaded or unloaded since the last unwind_refresh() that succeeded, or
 * there was none. Cheap. For the callers of module_find().
 */
bool modules_changed(void);

#endif
