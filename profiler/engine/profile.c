#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folio/folio.h"

const void *folio_profile_bytes(const struct folio_profile *profile, size_t *out_size) {
  *out_size = profile->size;
  return profile->bytes;
}

int64_t folio_profile_time_ns(const struct folio_profile *profile) {
  return profile->time_ns;
}

int64_t folio_profile_duration_ns(const struct folio_profile *profile) {
  return profile->duration_ns;
}

static int write_all(int file, const unsigned char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return -1;
    bytes += written;
    size -= (size_t)written;
  }
  return 0;
}

/* Writes beside the name and renames, so that a reader never sees a part. */
static int write_beside(const struct folio_profile *profile, const char *path, char *beside,
                        size_t room) {
  if ((size_t)snprintf(beside, room, "%s.XXXXXX", path) >= room) {
    errno = ENAMETOOLONG;
    beside[0] = '\0';
    return -1;
  }
  int file = mkostemp(beside, O_CLOEXEC);
  if (file < 0) {
    beside[0] = '\0';
    return -1;
  }
  int outcome = write_all(file, profile->bytes, profile->size);
  if (outcome == 0)
    outcome = fchmod(file, 0644);
  int failure = errno;
  if (close(file) != 0 && outcome == 0)
    return -1;
  errno = failure;
  return outcome == 0 ? rename(beside, path) : -1;
}

enum folio_status folio_profile_write(const struct folio_profile *profile, const char *path,
                                      struct folio_error *error) {
  char beside[4096];
  if (write_beside(profile, path, beside, sizeof(beside)) == 0)
    return FOLIO_OK;
  int failure = errno;
  if (beside[0] != '\0')
    unlink(beside);
  if (error != NULL)
    snprintf(error->message, sizeof(error->message), "cannot write the profile %s: %s", path,
             strerror(failure));
  return FOLIO_SYSTEM;
}

void folio_profile_free(struct folio_profile *profile) {
  if (profile == NULL)
    return;
  free(profile->bytes);
  free(profile);
}
