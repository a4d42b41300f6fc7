#include "match/match.h"

#include "versions.h"

static const struct match_version versions[] = {
    {
        .number = 1,
        .name = "a regular expression compiled for every line",
        .lesson = "The start: the CPU profile shows where the time goes.",
        .prepare = match_reading_prepare,
        .count = match_v1_count,
        .release = match_reading_release,
    },
    {
        .number = 2,
        .name = "strstr in lower-cased copies",
        .lesson = "CPU profile: drop the regular expression, a literal phrase needs none.",
        .prepare = match_reading_prepare,
        .count = match_v2_count,
        .release = match_reading_release,
    },
    {
        .number = 3,
        .name = "as 2, for the allocation profiles",
        .lesson = "Heap profiles: most bytes are allocated to read the same files again.",
        .prepare = match_reading_prepare,
        .count = match_v2_count,
        .release = match_reading_release,
    },
    {
        .number = 4,
        .name = "files read once, lines kept",
        .lesson = "Allocated heap: stop reading again, keep the lines.",
        .prepare = match_v4_prepare,
        .count = match_v4_count,
        .release = match_v4_release,
    },
};

static const size_t version_count = sizeof versions / sizeof versions[0];

const struct match_version *match_version_find(int number) {
  for (size_t i = 0; i < version_count; i++) {
    if (versions[i].number == number)
      return &versions[i];
  }
  return NULL;
}

size_t match_version_count(void) {
  return version_count;
}

const struct match_version *match_version_at(size_t index) {
  return index < version_count ? &versions[index] : NULL;
}
