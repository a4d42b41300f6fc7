#ifndef PPROF_MESSAGE_H
#define PPROF_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "pprof/error.h"
#include "profile.pb-c.h"

/* What protobuf-c does not tell about a message. */
struct message_findings {
  size_t bad_strings; /* not UTF-8, or with a NUL inside */
  size_t first_bad_string;
};

/*
 * Decodes a Profile message into the arena. What it is not: two messages one after
 * the other, one without strings, one whose first string is not empty.
 * Returns 0, or -1 and the reason.
 */
int message_decode(const uint8_t *bytes, size_t size, struct pprof_arena *arena,
                   const Perftools__Profiles__Profile **out, struct message_findings *out_findings,
                   struct pprof_error *error);

#endif
