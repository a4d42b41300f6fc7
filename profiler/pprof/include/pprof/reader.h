#ifndef PPROF_READER_H
#define PPROF_READER_H

#include <stddef.h>

#include "pprof/error.h"
#include "pprof/profile.h"

/* What a file may make the reader allocate; zero in a field means the default. */
struct pprof_limits {
  size_t max_file_bytes;    /* as it lies on the disk: 64 MiB */
  size_t max_message_bytes; /* uncompressed: 256 MiB */
  size_t max_memory_bytes;  /* of the profile in memory: 1 GiB */
};

/*
 * Reads a profile, gzipped or not. Everything that leaves no doubt about what the
 * profile says is taken; see pprof_check() for what is wrong with it all the
 * same. Returns 0 and an owned profile, or -1 and the reason. `limits` may be NULL.
 */
int pprof_read(const void *bytes, size_t size, const struct pprof_limits *limits,
               struct pprof_profile **out, struct pprof_error *error);

/* The same from a file, a pipe, or /dev/stdin. The message does not name the file. */
int pprof_read_file(const char *path, const struct pprof_limits *limits, struct pprof_profile **out,
                    struct pprof_error *error);

/* Takes NULL. */
void pprof_profile_free(struct pprof_profile *profile);

#endif
