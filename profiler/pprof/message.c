#include "message.h"

#include <string.h>

#include "error.h"
#include "utf8.h"
#include "wire.h"

/* Field numbers of Profile. */
enum {
  FIELD_STRING_TABLE = 6,
  FIELD_COMMENT = 13,
  FIELD_LAST = 15,
};

/* Whether the message has at most one field of the number. */
static bool is_singular(uint32_t number) {
  return number > FIELD_STRING_TABLE && number <= FIELD_LAST && number != FIELD_COMMENT;
}

struct scan {
  uint32_t seen; /* bit n: the singular field n */
  size_t strings;
  struct message_findings findings;
};

static int scan_string(struct scan *scan, const struct wire_field *field,
                       struct pprof_error *error) {
  const char *text = (const char *)field->bytes;
  if (scan->strings == 0 && field->size > 0) {
    pprof_error_set(error, "string_table[0] is not empty");
    return -1;
  }
  if (memchr(text, '\0', field->size) != NULL || !utf8_is_valid(text, field->size)) {
    if (scan->findings.bad_strings++ == 0)
      scan->findings.first_bad_string = scan->strings;
  }
  scan->strings++;
  return 0;
}

static int scan_field(struct scan *scan, const struct wire_field *field,
                      struct pprof_error *error) {
  if (field->number == FIELD_STRING_TABLE && field->type == WIRE_BYTES)
    return scan_string(scan, field, error);
  if (is_singular(field->number)) {
    if ((scan->seen & UINT32_C(1) << field->number) != 0) {
      pprof_error_set(error, "concatenated profiles: give each a file of its own");
      return -1;
    }
    scan->seen |= UINT32_C(1) << field->number;
  }
  return 0;
}

static int scan_message(struct scan *scan, const uint8_t *bytes, size_t size,
                        struct pprof_error *error) {
  const uint8_t *at = bytes;
  const uint8_t *end = bytes + size;
  struct wire_field field;
  for (;;) {
    const uint8_t *start = at;
    switch (wire_next(&at, end, &field)) {
    case WIRE_DAMAGED:
      pprof_error_set(error, "not a pprof profile, or a truncated one: no field at byte %zu",
                      (size_t)(start - bytes));
      return -1;
    case WIRE_END:
      return 0;
    case WIRE_FIELD:
      if (scan_field(scan, &field, error) != 0)
        return -1;
    }
  }
}

static void *allocate(void *arena, size_t size) {
  return pprof_arena_take(arena, size);
}

/* The arena frees all at once. */
static void deallocate(void *arena, void *piece) {
  (void)arena;
  (void)piece;
}

int message_decode(const uint8_t *bytes, size_t size, struct pprof_arena *arena,
                   const Perftools__Profiles__Profile **out, struct message_findings *out_findings,
                   struct pprof_error *error) {
  struct scan scan = {0};
  if (scan_message(&scan, bytes, size, error) != 0)
    return -1;
  ProtobufCAllocator allocator = {.alloc = allocate, .free = deallocate, .allocator_data = arena};
  const Perftools__Profiles__Profile *message =
      perftools__profiles__profile__unpack(&allocator, size, bytes);
  if (message == NULL) {
    if (arena->exhausted)
      pprof_error_set(error, "over the limit of memory when decoded");
    else
      pprof_error_set(error, "not a pprof profile, or a damaged one");
    return -1;
  }
  if (scan.strings == 0) {
    pprof_error_set(error, "not a pprof profile: it has no string table");
    return -1;
  }
  *out = message;
  *out_findings = scan.findings;
  return 0;
}
