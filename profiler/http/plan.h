#ifndef HTTP_PLAN_H
#define HTTP_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "folio/folio.h"

#define PLAN_ROOT "/debug/pprof/"

/* What a request asks for. */
enum plan_kind {
  PLAN_ERROR,    /* an answer of `status` and `message` */
  PLAN_REDIRECT, /* to PLAN_ROOT */
  PLAN_INDEX,    /* the page at PLAN_ROOT */
  PLAN_RECORD,   /* the next `seconds` seconds */
  PLAN_SNAPSHOT, /* everything since the start */
};

struct plan {
  enum plan_kind kind;
  unsigned int status;
  char message[160];
  enum folio_type type;
  int64_t seconds;
  const char *file_name; /* that the client is told to save the profile as */
};

/* One profile that is served at PLAN_ROOT and its name. */
struct plan_profile {
  const char *name;
  const char *delta_name; /* of a recording; NULL: it is always one */
  enum folio_type type;
  const char *summary;
};

/* The profiles served, in a fixed order. */
const struct plan_profile *plan_profiles(size_t *out_count);

/*
 * Reads `uri`, a path and query as they stand in the request line, by the rules of Go's
 * net/http/pprof. A recording may last `max_seconds` at most.
 */
struct plan plan_make(const char *uri, uint32_t max_seconds);

#endif
