#ifndef UNWIND_TEST_SECTION_H
#define UNWIND_TEST_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include "eh_frame.h"

/* Writes .eh_frame sections byte by byte. They are said to lie at SECTION_ADDRESS. */
enum {
  SECTION_MAX_BYTES = 64 * 1024
};
#define SECTION_ADDRESS ((uintptr_t)0x700000)

struct section {
  unsigned char bytes[SECTION_MAX_BYTES];
  size_t size;
};

/* A program of call frame instructions. */
struct program {
  const unsigned char *bytes;
  size_t size;
};

#define PROGRAM(...)                                                                               \
  ((struct program){(const unsigned char[]){__VA_ARGS__},                                          \
                    sizeof((const unsigned char[]){__VA_ARGS__})})

/*
 * A CIE with the letters and their data, code alignment 1 and data alignment -8, register 16
 * for the return address. Returns its offset.
 */
size_t section_add_cie(struct section *section, const char *letters, struct program data,
                       struct program program);

/* "zR" with relative addresses of 4 bytes; CFA rsp + 8, return address below it. */
size_t section_add_usual_cie(struct section *section);

/* A function of [start, start + size) with such a CIE. Returns the FDE's offset. */
size_t section_add_function(struct section *section, size_t cie, uintptr_t start, uint32_t size,
                            struct program program);

/* The word of zeros that ends a section. */
void section_end(struct section *section);

struct eh_frame section_frames(const struct section *section);

#endif
