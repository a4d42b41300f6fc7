#ifndef SYMBOLIZE_DEBUG_FILE_H
#define SYMBOLIZE_DEBUG_FILE_H

#include <stdbool.h>

#include "elf_file.h"

/* Where distributions put the debug data of their packages. */
#define DEBUG_FILE_ROOT "/usr/lib/debug"

/*
 * Opens the file with the debug data that was cut out of an object file: by build
 * id below `root`, then by the name in its .gnu_debuglink beside it, in .debug/ there,
 * and below `root`. A file is taken only if its build id is the same or, without
 * one, if its checksum is that of the link. `main` is the object file, or empty when it
 * is gone; `path` its path, and `build_id` its build id or "". Nothing is fetched.
 */
bool debug_file_open(const char *root, const struct elf_file *main, const char *path,
                     const char *build_id, struct elf_file *out);

/*
 * Opens the file to which dwz moved what the debug data of several files have in common.
 * `path` is the file that refers to it by this name and build id.
 */
bool debug_file_open_shared(const char *root, const char *path, const char *name,
                            const char *build_id, struct elf_file *out);

#endif
