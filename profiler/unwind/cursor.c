#include "cursor.h"

static bool take(struct cursor *cursor, uint64_t bytes) {
  if (cursor->failed || bytes > (uint64_t)(cursor->end - cursor->at)) {
    cursor->failed = true;
    return false;
  }
  cursor->at += bytes;
  return true;
}

uint64_t cursor_number(struct cursor *cursor, size_t bytes) {
  if (!take(cursor, bytes))
    return 0;
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; i++)
    number |= (uint64_t)cursor->at[(ptrdiff_t)i - (ptrdiff_t)bytes] << (8 * i);
  return number;
}

/* Groups of seven bits, lowest first; bits past 64 are dropped. */
static uint64_t leb(struct cursor *cursor, unsigned *out_shift, uint8_t *out_last) {
  uint64_t number = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = cursor_byte(cursor);
    if (shift < 64)
      number |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while ((byte & 0x80) != 0);
  *out_shift = shift;
  *out_last = byte;
  return number;
}

uint64_t cursor_uleb(struct cursor *cursor) {
  unsigned shift;
  uint8_t last;
  return leb(cursor, &shift, &last);
}

int64_t cursor_sleb(struct cursor *cursor) {
  unsigned shift;
  uint8_t last;
  uint64_t number = leb(cursor, &shift, &last);
  if (shift < 64 && (last & 0x40) != 0)
    number |= ~(uint64_t)0 << shift;
  return (int64_t)number;
}

struct cursor cursor_part(struct cursor *cursor, uint64_t bytes) {
  const unsigned char *begin = cursor->at;
  bool taken = take(cursor, bytes);
  return (struct cursor){.begin = begin,
                         .at = begin,
                         .end = taken ? cursor->at : begin,
                         .address = cursor->address + (uintptr_t)(begin - cursor->begin),
                         .failed = !taken};
}

uint64_t cursor_plain(struct cursor *cursor, uint8_t encoding) {
  switch (encoding & POINTER_FORMAT) {
  case 0x1:
    return cursor_uleb(cursor);
  case 0x2:
    return cursor_number(cursor, 2);
  case 0x3:
    return cursor_number(cursor, 4);
  case 0x0:
  case 0x4:
  case 0xc:
    return cursor_number(cursor, 8);
  case 0x9:
    return (uint64_t)cursor_sleb(cursor);
  case 0xa:
    return (uint64_t)(int16_t)cursor_number(cursor, 2);
  case 0xb:
    return (uint64_t)(int32_t)cursor_number(cursor, 4);
  default:
    cursor->failed = true;
    return 0;
  }
}

uintptr_t cursor_pointer(struct cursor *cursor, uint8_t encoding, uintptr_t section) {
  uintptr_t place = cursor->address + (uintptr_t)(cursor->at - cursor->begin);
  uintptr_t value = (uintptr_t)cursor_plain(cursor, encoding);
  if ((encoding & POINTER_INDIRECT) != 0)
    cursor->failed = true;
  switch (encoding & POINTER_RELATIVE_TO) {
  case 0:
    return value;
  case POINTER_OF_PLACE:
    return place + value;
  case POINTER_OF_SECTION:
    return section + value;
  default:
    cursor->failed = true;
    return 0;
  }
}
