#ifndef SYMBOLIZE_ELF_FILE_H
#define SYMBOLIZE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <libelf.h>

#include "interval_table.h"

/*
 * An object file that is read through a private mapping. All zero is none. The file
 * descriptor is closed as soon as it can be, since a program has few of them.
 */
struct elf_file {
  Elf *elf;
  int fd;       /* meaningful while fd_open */
  bool fd_open; /* libdw takes the file's name from it */
  char *path;   /* that it was opened by; NULL for an image in memory */
  void *memory; /* an owned image that is no file, or NULL */
};

/* Room for a build id in hexadecimal; those of linkers have 20 bytes at most. */
#define BUILD_ID_TEXT_BYTES 129

/* False when it is no regular file or no ELF file. Symbolic links are followed. */
bool elf_file_open(const char *path, struct elf_file *out);

/* The same of an image in memory, which is copied. */
bool elf_file_open_memory(const void *image, size_t size, struct elf_file *out);

/* Keeps the file readable without its descriptor. */
void elf_file_release_fd(struct elf_file *file);

/* Takes an empty one. */
void elf_file_close(struct elf_file *file);

/* Writes the build id in lower-case hexadecimal, "" when there is none. */
void elf_file_build_id(const struct elf_file *file, char out[BUILD_ID_TEXT_BYTES]);

/* Writes a build id of `size` bytes so; "" when it has none, or more than linkers give. */
void elf_file_build_id_text(const void *bits, size_t size, char out[BUILD_ID_TEXT_BYTES]);

/* Whether it has debug data, and not only the headers of what was cut out. */
bool elf_file_has_debug_data(const struct elf_file *file);

/* Adds the ranges of the sections that hold code, and seals the table. */
void elf_file_code(const struct elf_file *file, struct interval_table *out);

#endif
