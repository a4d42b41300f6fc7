#include "pprof/check.h"

#include <inttypes.h>
#include <string.h>

#include "error.h"

#define MIB ((size_t)1024 * 1024)

/* Pyroscope's default limits. */
#define MAX_MESSAGE_BYTES (4 * MIB)
#define MAX_SAMPLES ((size_t)16000)
#define MAX_LABELS ((size_t)100)
#define MAX_DEPTH ((size_t)1000)

static bool has_sample_type(const struct pprof_header *header, const char *name, size_t before) {
  for (size_t i = 0; i < before; i++) {
    if (strcmp(header->sample_types[i].type, name) == 0)
      return true;
  }
  return false;
}

static bool check_header(const struct pprof_profile *profile, struct pprof_error *error) {
  const struct pprof_header *header = &profile->header;
  for (size_t i = 0; i < header->sample_type_count; i++) {
    const char *type = header->sample_types[i].type;
    if (*type == '\0' || strchr(type, '-') != NULL) {
      pprof_error_set(error, "the sample type \"%s\" is empty or has a \"-\"", type);
      return false;
    }
    if (has_sample_type(header, type, i)) {
      pprof_error_set(error, "two sample types are named \"%s\"", type);
      return false;
    }
  }
  const char *standard = header->default_sample_type;
  if (standard != NULL && !has_sample_type(header, standard, header->sample_type_count)) {
    pprof_error_set(error, "the default sample type \"%s\" is none of the sample types", standard);
    return false;
  }
  if (header->period < 0 || header->duration_ns < 0) {
    pprof_error_set(error, "the period or the duration is negative");
    return false;
  }
  return true;
}

static bool check_strings(const struct pprof_profile *profile, struct pprof_error *error) {
  const struct pprof_provenance *provenance = &profile->provenance;
  if (provenance->bad_strings == 0)
    return true;
  pprof_error_set(error, "string_table[%zu] is not UTF-8 or has a NUL inside",
                  provenance->first_bad_string);
  return false;
}

static bool check_ids(size_t count, uint64_t max_id, const char *what, struct pprof_error *error) {
  /* The reader saw to it that none is 0 or twice there. */
  if (max_id == count)
    return true;
  pprof_error_set(error,
                  "the ids of the %ss are not 1, 2, 3, ... without gaps: the highest of %zu is "
                  "%" PRIu64,
                  what, count, max_id);
  return false;
}

static bool check_all_ids(const struct pprof_profile *profile, struct pprof_error *error) {
  const struct pprof_provenance *provenance = &profile->provenance;
  return check_ids(profile->mapping_count, provenance->max_mapping_id, "mapping", error) &&
         check_ids(profile->function_count, provenance->max_function_id, "function", error) &&
         check_ids(profile->location_count, provenance->max_location_id, "location", error);
}

static bool check_mappings(const struct pprof_profile *profile, struct pprof_error *error) {
  for (size_t i = 0; i < profile->mapping_count; i++) {
    const struct pprof_mapping *mapping = &profile->mappings[i];
    if (mapping->limit < mapping->start) {
      pprof_error_set(error, "the mapping %s ends at 0x%" PRIx64 ", before its start 0x%" PRIx64,
                      mapping->path, mapping->limit, mapping->start);
      return false;
    }
  }
  return true;
}

/* An address of 0 stands for none. */
static bool check_locations(const struct pprof_profile *profile, struct pprof_error *error) {
  for (size_t i = 0; i < profile->location_count; i++) {
    const struct pprof_location *location = &profile->locations[i];
    if (location->mapping == PPROF_NO_MAPPING || location->address == 0)
      continue;
    const struct pprof_mapping *mapping = &profile->mappings[location->mapping];
    if (mapping->limit != 0 &&
        (location->address < mapping->start || location->address >= mapping->limit)) {
      pprof_error_set(error,
                      "the address 0x%" PRIx64 " is outside of its mapping %s, 0x%" PRIx64
                      " to 0x%" PRIx64,
                      location->address, mapping->path, mapping->start, mapping->limit);
      return false;
    }
  }
  return true;
}

static bool check_sample(const struct pprof_profile *profile, size_t index,
                         struct pprof_error *error) {
  const struct pprof_sample *sample = &profile->samples[index];
  for (size_t i = 0; i < profile->header.sample_type_count; i++) {
    if (sample->values[i] < 0) {
      pprof_error_set(error, "sample number %zu has the negative value %" PRId64, index + 1,
                      sample->values[i]);
      return false;
    }
  }
  for (size_t i = 0; i < sample->label_count; i++) {
    if (*sample->labels[i].key == '\0') {
      pprof_error_set(error, "sample number %zu has a label without a key", index + 1);
      return false;
    }
  }
  return true;
}

bool pprof_check(const struct pprof_profile *profile, struct pprof_error *error) {
  if (!check_header(profile, error) || !check_strings(profile, error) ||
      !check_all_ids(profile, error) || !check_mappings(profile, error) ||
      !check_locations(profile, error))
    return false;
  for (size_t i = 0; i < profile->sample_count; i++) {
    if (!check_sample(profile, i, error))
      return false;
  }
  return true;
}

static bool is_over(size_t count, size_t max, const char *what, struct pprof_error *error) {
  if (count <= max)
    return false;
  pprof_error_set(error, "over a limit of Pyroscope: %zu %s, at most %zu", count, what, max);
  return true;
}

bool pprof_fits_pyroscope(const struct pprof_profile *profile, struct pprof_error *error) {
  if (is_over(profile->provenance.message_bytes, MAX_MESSAGE_BYTES, "bytes uncompressed", error) ||
      is_over(profile->sample_count, MAX_SAMPLES, "samples", error))
    return false;
  for (size_t i = 0; i < profile->sample_count; i++) {
    const struct pprof_sample *sample = &profile->samples[i];
    if (is_over(sample->label_count, MAX_LABELS, "labels of one sample", error) ||
        is_over(sample->location_count, MAX_DEPTH, "locations in one stack", error))
      return false;
  }
  return true;
}
