#include "pprof/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "error.h"
#include "gzip.h"
#include "message.h"
#include "model.h"

#define MIB ((size_t)1024 * 1024)

/* The public part comes first: a profile's address is this struct's. */
struct owned_profile {
  struct pprof_profile profile;
  struct pprof_arena arena;
};

static size_t limit_or(size_t limit, size_t standard) {
  return limit == 0 ? standard : limit < SIZE_MAX / 4 ? limit : SIZE_MAX / 4;
}

static struct pprof_limits limits_complete(const struct pprof_limits *limits) {
  struct pprof_limits none = {0};
  if (limits == NULL)
    limits = &none;
  return (struct pprof_limits){
      .max_file_bytes = limit_or(limits->max_file_bytes, 64 * MIB),
      .max_message_bytes = limit_or(limits->max_message_bytes, 256 * MIB),
      .max_memory_bytes = limit_or(limits->max_memory_bytes, 1024 * MIB),
  };
}

static int read_message(const uint8_t *bytes, size_t size, const struct pprof_limits *limits,
                        struct pprof_profile **out, struct pprof_error *error) {
  const Perftools__Profiles__Profile *message;
  struct message_findings findings;
  if (size > limits->max_message_bytes) {
    pprof_error_set(error, "over the limit of %zu bytes", limits->max_message_bytes);
    return -1;
  }
  struct owned_profile *owned = calloc(1, sizeof(*owned));
  if (owned == NULL) {
    pprof_error_set(error, "out of memory");
    return -1;
  }
  pprof_arena_init(&owned->arena, limits->max_memory_bytes);
  if (message_decode(bytes, size, &owned->arena, &message, &findings, error) != 0 ||
      model_create(message, &findings, &owned->arena, &owned->profile, error) != 0) {
    pprof_profile_free(&owned->profile);
    return -1;
  }
  owned->profile.provenance.message_bytes = size;
  *out = &owned->profile;
  return 0;
}

int pprof_read(const void *bytes, size_t size, const struct pprof_limits *limits,
               struct pprof_profile **out, struct pprof_error *error) {
  struct pprof_limits complete = limits_complete(limits);
  uint8_t *expanded;
  size_t expanded_size;
  if (size == 0) {
    pprof_error_set(error, "empty: not one byte");
    return -1;
  }
  if (size > complete.max_file_bytes) {
    pprof_error_set(error, "over the limit of %zu bytes", complete.max_file_bytes);
    return -1;
  }
  if (!gzip_is(bytes, size))
    return read_message(bytes, size, &complete, out, error);
  if (gzip_expand(bytes, size, complete.max_message_bytes, &expanded, &expanded_size, error) != 0)
    return -1;
  int result = read_message(expanded, expanded_size, &complete, out, error);
  free(expanded);
  return result;
}

/* Reads to the end, or one byte more than `max_bytes`. */
static int read_all(int fd, size_t max_bytes, uint8_t **out, size_t *out_size,
                    struct pprof_error *error) {
  uint8_t *bytes = NULL;
  size_t used = 0;
  size_t max = 0;
  while (used <= max_bytes) {
    if (used == max) {
      size_t grown = max == 0 ? 64 * 1024 : max * 2;
      uint8_t *moved = realloc(bytes, grown);
      if (moved == NULL) {
        pprof_error_set(error, "out of memory");
        free(bytes);
        return -1;
      }
      bytes = moved;
      max = grown;
    }
    ssize_t got = read(fd, bytes + used, max - used);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      pprof_error_set(error, "cannot be read: %s", strerror(errno));
      free(bytes);
      return -1;
    }
    if (got == 0)
      break;
    used += (size_t)got;
  }
  *out = bytes;
  *out_size = used;
  return 0;
}

int pprof_read_file(const char *path, const struct pprof_limits *limits, struct pprof_profile **out,
                    struct pprof_error *error) {
  uint8_t *bytes;
  size_t size;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    pprof_error_set(error, "cannot be opened: %s", strerror(errno));
    return -1;
  }
  int result = read_all(fd, limits_complete(limits).max_file_bytes, &bytes, &size, error);
  close(fd);
  if (result != 0)
    return -1;
  result = pprof_read(bytes, size, limits, out, error);
  free(bytes);
  return result;
}

void pprof_profile_free(struct pprof_profile *profile) {
  if (profile == NULL)
    return;
  struct owned_profile *owned = (struct owned_profile *)profile;
  struct pprof_arena arena = owned->arena;
  free(owned);
  pprof_arena_fini(&arena);
}
