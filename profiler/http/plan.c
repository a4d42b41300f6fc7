#include "plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <microhttpd.h>

#include "query.h"

#define DEFAULT_SECONDS 30

static const struct plan_profile profiles[] = {
    {"profile", NULL, FOLIO_CPU,
     "CPU time by stack of the next 30 seconds, or of as many as the parameter seconds says"},
    {"heap", "heap-delta", FOLIO_HEAP,
     "live heap, with what was allocated since the start; seconds=N: in the next N seconds"},
    {"allocs", "allocs-delta", FOLIO_ALLOCS,
     "what was allocated since the start; seconds=N: in the next N seconds"},
};

const struct plan_profile *plan_profiles(size_t *out_count) {
  *out_count = sizeof(profiles) / sizeof(profiles[0]);
  return profiles;
}

__attribute__((format(printf, 2, 3))) static struct plan refuse(unsigned int status,
                                                                const char *format, ...) {
  struct plan plan = {.kind = PLAN_ERROR, .status = status};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(plan.message, sizeof(plan.message), format, arguments);
  va_end(arguments);
  return plan;
}

static struct plan record(const struct plan_profile *profile, int64_t seconds,
                          uint32_t max_seconds) {
  if (seconds > max_seconds)
    return refuse(MHD_HTTP_BAD_REQUEST,
                  "profile duration exceeds the server's limit of %" PRIu32 " seconds",
                  max_seconds);
  return (struct plan){
      .kind = PLAN_RECORD,
      .type = profile->type,
      .seconds = seconds,
      .file_name = profile->delta_name != NULL ? profile->delta_name : profile->name,
  };
}

/* A parameter whose value is not possible has its default; `debug` has no meaning. */
static struct plan plan_cpu(const struct plan_profile *profile, const char *query,
                            uint32_t max_seconds) {
  struct query_text text;
  int64_t seconds = 0;
  if (!query_find(query, "seconds", &text) || !query_integer(&text, &seconds) || seconds <= 0)
    seconds = DEFAULT_SECONDS < max_seconds ? DEFAULT_SECONDS : max_seconds;
  return record(profile, seconds, max_seconds);
}

static struct plan plan_memory(const struct plan_profile *profile, const char *query,
                               uint32_t max_seconds) {
  struct query_text text;
  int64_t debug = 0;
  if (query_find(query, "debug", &text))
    query_integer(&text, &debug);
  if (query_find(query, "seconds", &text) && text.length > 0) {
    int64_t seconds;
    if (!query_integer(&text, &seconds) || seconds <= 0)
      return refuse(MHD_HTTP_BAD_REQUEST,
                    "invalid value for \"seconds\" - must be a positive integer");
    struct plan plan = record(profile, seconds, max_seconds);
    if (plan.kind == PLAN_RECORD && debug != 0)
      return refuse(MHD_HTTP_BAD_REQUEST, "seconds and debug params are incompatible");
    return plan;
  }
  if (debug != 0)
    return refuse(MHD_HTTP_BAD_REQUEST,
                  "debug is not supported: leave it out for the binary profile, which "
                  "`go tool pprof` and `folio top` show as text");
  return (struct plan){.kind = PLAN_SNAPSHOT, .type = profile->type, .file_name = profile->name};
}

static struct plan plan_profile(const char *name, const char *query, uint32_t max_seconds) {
  for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
    if (strcmp(name, profiles[i].name) != 0)
      continue;
    if (profiles[i].type == FOLIO_CPU)
      return plan_cpu(&profiles[i], query, max_seconds);
    return plan_memory(&profiles[i], query, max_seconds);
  }
  return refuse(MHD_HTTP_NOT_FOUND, "Unknown profile");
}

struct plan plan_make(const char *uri, uint32_t max_seconds) {
  static const char root[] = PLAN_ROOT;
  const size_t root_length = sizeof(root) - 1;
  if (strnlen(uri, QUERY_URI_BYTES_MAX + 1) > QUERY_URI_BYTES_MAX)
    return refuse(MHD_HTTP_URI_TOO_LONG, "the address is longer than %d bytes",
                  QUERY_URI_BYTES_MAX);
  size_t path_length = strcspn(uri, "?");
  const char *query = uri[path_length] == '?' ? uri + path_length + 1 : "";
  struct query_text path;
  if (!query_unescape(uri, path_length, false, &path) || strlen(path.bytes) != path.length)
    return refuse(MHD_HTTP_BAD_REQUEST, "the address is malformed");
  if (strcmp(path.bytes, root) == 0)
    return (struct plan){.kind = PLAN_INDEX};
  if (strcmp(path.bytes, "/") == 0 ||
      (path.length == root_length - 1 && strncmp(path.bytes, root, root_length - 1) == 0))
    return (struct plan){.kind = PLAN_REDIRECT};
  if (strncmp(path.bytes, root, root_length) != 0)
    return refuse(MHD_HTTP_NOT_FOUND, "Unknown profile");
  return plan_profile(path.bytes + root_length, query, max_seconds);
}
