#ifndef SYMBOLIZE_MAIN_FILE_H
#define SYMBOLIZE_MAIN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "elf_file.h"
#include "symbolize/symbolize.h"

/* The path without " (deleted)": its length. */
size_t main_file_path_length(const char *path);

/*
 * Opens what was mapped: the file of that name if it is still the same, else, where
 * this process has it mapped, what the kernel keeps of a deleted one; the vdso from
 * memory. False when there is none; a file with another build id is none.
 */
bool main_file_open(const struct symbol_object *object, struct elf_file *out);

#endif
