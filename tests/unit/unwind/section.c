#include "section.h"

#include <assert.h>
#include <string.h>

static void put(struct section *section, const void *bytes, size_t size) {
  assert(section->size + size <= SECTION_MAX_BYTES);
  if (size > 0)
    memcpy(section->bytes + section->size, bytes, size);
  section->size += size;
}

static void put32(struct section *section, uint32_t number) {
  put(section, &number, sizeof(number));
}

static void put_byte(struct section *section, unsigned char byte) {
  put(section, &byte, 1);
}

static size_t begin(struct section *section, uint32_t id) {
  size_t offset = section->size;
  put32(section, 0);
  put32(section, id);
  return offset;
}

/* Pads the entry with DW_CFA_nop and writes its length. */
static void finish(struct section *section, size_t offset) {
  while (section->size % 4 != 0)
    put_byte(section, 0);
  uint32_t length = (uint32_t)(section->size - offset - 4);
  memcpy(section->bytes + offset, &length, sizeof(length));
}

size_t section_add_cie(struct section *section, const char *letters, struct program data,
                       struct program program) {
  size_t offset = begin(section, 0);
  put_byte(section, 1);
  put(section, letters, strlen(letters) + 1);
  put_byte(section, 1);
  put_byte(section, 0x78);
  put_byte(section, 16);
  if (letters[0] == 'z')
    put_byte(section, (unsigned char)data.size);
  put(section, data.bytes, data.size);
  put(section, program.bytes, program.size);
  finish(section, offset);
  return offset;
}

size_t section_add_usual_cie(struct section *section) {
  return section_add_cie(section, "zR", PROGRAM(0x1b), PROGRAM(0x0c, 7, 8, 0x90, 1));
}

size_t section_add_function(struct section *section, size_t cie, uintptr_t start, uint32_t size,
                            struct program program) {
  size_t offset = begin(section, (uint32_t)(section->size + 4 - cie));
  put32(section, (uint32_t)(start - (SECTION_ADDRESS + section->size)));
  put32(section, size);
  put_byte(section, 0); /* no augmentation data */
  put(section, program.bytes, program.size);
  finish(section, offset);
  return offset;
}

void section_end(struct section *section) {
  put32(section, 0);
}

struct eh_frame section_frames(const struct section *section) {
  return (struct eh_frame){.bytes = section->bytes,
                           .size = section->size,
                           .address = SECTION_ADDRESS,
                           .max_frames = UINT64_MAX};
}
