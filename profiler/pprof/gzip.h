#ifndef PPROF_GZIP_H
#define PPROF_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZLIB_CONST
#include <zlib.h>

#include "pprof/error.h"

/*
 * Compression of parts given one after the other. The header names no file and no
 * time, so that the same parts give the same bytes. A failure is remembered in `failed`.
 */
struct gzip_writer {
  z_stream stream;
  uint8_t *bytes;
  size_t used, max;
  bool failed;
};

void gzip_writer_init(struct gzip_writer *writer);

void gzip_writer_add(struct gzip_writer *writer, const void *bytes, size_t size);

/* Returns 0 and owned bytes (free), or -1 when memory ran out. Ends the writer. */
int gzip_writer_finish(struct gzip_writer *writer, void **out, size_t *out_size);

/* Whether the bytes begin as gzip data does. */
bool gzip_is(const uint8_t *bytes, size_t size);

/*
 * Decompresses at most `max_bytes` (several gzip members one after the other give
 * one result, as for all readers of gzip). Returns 0 and owned bytes (free), or -1
 * and the reason.
 */
int gzip_expand(const uint8_t *bytes, size_t size, size_t max_bytes, uint8_t **out,
                size_t *out_size, struct pprof_error *error);

#endif
