#ifndef ENGINE_PROFILE_H
#define ENGINE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

/* A finished profile: the bytes of the file, and when it was taken. */
struct folio_profile {
  void *bytes;
  size_t size;
  int64_t time_ns;
  int64_t duration_ns;
};

#endif
