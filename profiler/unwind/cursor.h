#ifndef UNWIND_CURSOR_H
#define UNWIND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the encodings of DWARF and .eh_frame from bytes that nobody vouches for. A
 * read past the end gives zero and marks the cursor failed, for good: callers look
 * at `failed` once, at the end.
 */
struct cursor {
  const unsigned char *begin;
  const unsigned char *at;
  const unsigned char *end;
  uintptr_t address; /* where `begin` is in the object's memory, which pointers are relative to */
  bool failed;
};

/* DW_EH_PE_*, the pointer encodings of the Linux Standard Base. */
enum {
  POINTER_FORMAT = 0x0f,
  POINTER_RELATIVE_TO = 0x70,
  POINTER_OF_PLACE = 0x10,
  POINTER_OF_SECTION = 0x30,
  POINTER_INDIRECT = 0x80,
  POINTER_OMITTED = 0xff,
};

static inline uint8_t cursor_byte(struct cursor *cursor) {
  if (cursor->failed || cursor->at == cursor->end) {
    cursor->failed = true;
    return 0;
  }
  return *cursor->at++;
}

/* A little-endian number of up to 8 bytes. */
uint64_t cursor_number(struct cursor *cursor, size_t bytes);

uint64_t cursor_uleb(struct cursor *cursor);
int64_t cursor_sleb(struct cursor *cursor);

/* The part of the next `bytes` bytes as a cursor of its own; `cursor` goes past them. */
struct cursor cursor_part(struct cursor *cursor, uint64_t bytes);

/* A number in the format of a pointer encoding, relative to nothing. */
uint64_t cursor_plain(struct cursor *cursor, uint8_t encoding);

/* A pointer; `section` is what POINTER_OF_SECTION refers to. An indirect one fails. */
uintptr_t cursor_pointer(struct cursor *cursor, uint8_t encoding, uintptr_t section);

#endif
