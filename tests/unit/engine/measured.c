#include "measured.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "pprof/check.h"
#include "pprof/reader.h"

static struct pprof_profile *read_profile(struct folio_profile *profile) {
  struct pprof_profile *read = NULL;
  struct pprof_error error;
  size_t size;
  const void *bytes = folio_profile_bytes(profile, &size);
  if (pprof_read(bytes, size, NULL, &read, &error) != 0 || !pprof_check(read, &error))
    fail_msg("%s", error.message);
  folio_profile_free(profile);
  return read;
}

struct folio_session *measured_start(enum folio_type type, int64_t duration_ns) {
  struct folio_session *session = NULL;
  struct folio_error error;
  if (folio_session_start(type, duration_ns, &session, &error) != FOLIO_OK)
    fail_msg("%s", error.message);
  return session;
}

struct pprof_profile *measured_stop(struct folio_session *session) {
  struct folio_profile *profile = NULL;
  struct folio_error error;
  if (folio_session_stop(session, &profile, &error) != FOLIO_OK)
    fail_msg("%s", error.message);
  return read_profile(profile);
}

struct pprof_profile *measured_snapshot(enum folio_type type) {
  struct folio_profile *profile = NULL;
  struct folio_error error;
  if (folio_snapshot(type, &profile, &error) != FOLIO_OK)
    fail_msg("%s", error.message);
  return read_profile(profile);
}

static size_t index_of(const struct pprof_profile *profile, const char *name) {
  for (size_t i = 0; i < profile->header.sample_type_count; i++) {
    if (strcmp(profile->header.sample_types[i].type, name) == 0)
      return i;
  }
  fail_msg("the profile has no values %s", name);
  return 0;
}

static bool has_function(const struct pprof_profile *profile, const struct pprof_sample *sample,
                         const char *function) {
  for (size_t i = 0; i < sample->location_count; i++) {
    const struct pprof_location *location = &profile->locations[sample->locations[i]];
    for (size_t frame = 0; frame < location->frame_count; frame++) {
      if (strcmp(profile->functions[location->frames[frame].function].name, function) == 0)
        return true;
    }
  }
  return false;
}

static bool has_label(const struct pprof_sample *sample, const char *key, const char *text) {
  for (size_t i = 0; i < sample->label_count; i++) {
    if (strcmp(sample->labels[i].key, key) == 0 && sample->labels[i].text != NULL &&
        strcmp(sample->labels[i].text, text) == 0)
      return true;
  }
  return false;
}

int64_t measured_total(const struct pprof_profile *profile, const char *name) {
  size_t index = index_of(profile, name);
  int64_t sum = 0;
  for (size_t i = 0; i < profile->sample_count; i++)
    sum += profile->samples[i].values[index];
  return sum;
}

int64_t measured_under(const struct pprof_profile *profile, const char *name,
                       const char *function) {
  size_t index = index_of(profile, name);
  int64_t sum = 0;
  for (size_t i = 0; i < profile->sample_count; i++) {
    if (has_function(profile, &profile->samples[i], function))
      sum += profile->samples[i].values[index];
  }
  return sum;
}

int64_t measured_labelled(const struct pprof_profile *profile, const char *name, const char *key,
                          const char *text) {
  size_t index = index_of(profile, name);
  int64_t sum = 0;
  for (size_t i = 0; i < profile->sample_count; i++) {
    if (has_label(&profile->samples[i], key, text))
      sum += profile->samples[i].values[index];
  }
  return sum;
}
