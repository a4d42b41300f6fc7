#include "gzip.h"

#include <limits.h>
#include <stdlib.h>

#include "error.h"

/* Windows of 32 KiB, in the gzip format. */
#define GZIP_WINDOW_BITS (15 + 16)
#define FIRST_BYTES ((size_t)64 * 1024)

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

void gzip_writer_init(struct gzip_writer *writer) {
  *writer = (struct gzip_writer){0};
  /* Level 1, as Go's own profiler: the program that is profiled pays for it. */
  if (deflateInit2(&writer->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    writer->failed = true;
}

/* Lets zlib go on until it wants more input, or is at the end with Z_FINISH. */
static void run_deflate(struct gzip_writer *writer, int flush) {
  int status;
  do {
    if (writer->used == writer->max) {
      size_t grown = writer->max == 0 ? FIRST_BYTES : writer->max * 2;
      uint8_t *moved = realloc(writer->bytes, grown);
      if (moved == NULL) {
        writer->failed = true;
        return;
      }
      writer->bytes = moved;
      writer->max = grown;
    }
    uInt room = (uInt)smaller(writer->max - writer->used, UINT_MAX);
    writer->stream.next_out = writer->bytes + writer->used;
    writer->stream.avail_out = room;
    status = deflate(&writer->stream, flush);
    writer->used += room - writer->stream.avail_out;
  } while (flush == Z_FINISH ? status != Z_STREAM_END : writer->stream.avail_out == 0);
}

void gzip_writer_add(struct gzip_writer *writer, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  while (size > 0 && !writer->failed) {
    uInt part = (uInt)smaller(size, UINT_MAX);
    writer->stream.next_in = at;
    writer->stream.avail_in = part;
    run_deflate(writer, Z_NO_FLUSH);
    at += part;
    size -= part;
  }
}

int gzip_writer_finish(struct gzip_writer *writer, void **out, size_t *out_size) {
  if (!writer->failed)
    run_deflate(writer, Z_FINISH);
  deflateEnd(&writer->stream);
  if (writer->failed) {
    free(writer->bytes);
    return -1;
  }
  *out = writer->bytes;
  *out_size = writer->used;
  return 0;
}

bool gzip_is(const uint8_t *bytes, size_t size) {
  return size >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

struct expansion {
  z_stream stream;
  const uint8_t *input;
  size_t input_left;
  uint8_t *bytes;
  size_t used, max;
};

/* Makes room for output; one byte more than allowed tells that there is more. */
static int expansion_grow(struct expansion *expansion, size_t max_bytes,
                          struct pprof_error *error) {
  if (expansion->used < expansion->max)
    return 0;
  if (expansion->used > max_bytes) {
    pprof_error_set(error, "over the limit of %zu bytes when decompressed", max_bytes);
    return -1;
  }
  size_t grown = expansion->max == 0 ? FIRST_BYTES : expansion->max * 2;
  grown = smaller(grown, max_bytes + 1);
  uint8_t *moved = realloc(expansion->bytes, grown);
  if (moved == NULL) {
    pprof_error_set(error, "out of memory");
    return -1;
  }
  expansion->bytes = moved;
  expansion->max = grown;
  return 0;
}

/* One call of inflate: its status. */
static int expansion_step(struct expansion *expansion) {
  z_stream *stream = &expansion->stream;
  uInt in = (uInt)smaller(expansion->input_left, UINT_MAX);
  uInt room = (uInt)smaller(expansion->max - expansion->used, UINT_MAX);
  stream->next_in = expansion->input;
  stream->avail_in = in;
  stream->next_out = expansion->bytes + expansion->used;
  stream->avail_out = room;
  int status = inflate(stream, Z_NO_FLUSH);
  expansion->input += in - stream->avail_in;
  expansion->input_left -= in - stream->avail_in;
  expansion->used += room - stream->avail_out;
  return status;
}

/* At the end of a member: 1 when another follows, 0 when none does, -1 for anything else. */
static int expansion_next_member(struct expansion *expansion, struct pprof_error *error) {
  if (expansion->input_left == 0)
    return 0;
  if (!gzip_is(expansion->input, expansion->input_left)) {
    pprof_error_set(error, "%zu bytes of garbage after the gzip data", expansion->input_left);
    return -1;
  }
  inflateReset(&expansion->stream);
  return 1;
}

static int expansion_run(struct expansion *expansion, size_t max_bytes, struct pprof_error *error) {
  for (;;) {
    if (expansion_grow(expansion, max_bytes, error) != 0)
      return -1;
    int status = expansion_step(expansion);
    if (status == Z_STREAM_END) {
      int more = expansion_next_member(expansion, error);
      if (more <= 0)
        return more;
    } else if (status == Z_BUF_ERROR ||
               (status == Z_OK && expansion->input_left == 0 && expansion->used < expansion->max)) {
      pprof_error_set(error, "the gzip data is truncated");
      return -1;
    } else if (status != Z_OK) {
      pprof_error_set(error, "the gzip data is damaged: %s",
                      expansion->stream.msg != NULL ? expansion->stream.msg : zError(status));
      return -1;
    }
  }
}

int gzip_expand(const uint8_t *bytes, size_t size, size_t max_bytes, uint8_t **out,
                size_t *out_size, struct pprof_error *error) {
  struct expansion expansion = {.input = bytes, .input_left = size};
  if (inflateInit2(&expansion.stream, GZIP_WINDOW_BITS) != Z_OK) {
    pprof_error_set(error, "out of memory");
    return -1;
  }
  int result = expansion_run(&expansion, max_bytes, error);
  inflateEnd(&expansion.stream);
  if (result == 0 && expansion.used > max_bytes) {
    pprof_error_set(error, "over the limit of %zu bytes when decompressed", max_bytes);
    result = -1;
  }
  if (result != 0) {
    free(expansion.bytes);
    return -1;
  }
  *out = expansion.bytes;
  *out_size = expansion.used;
  return 0;
}
