#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outcome.h"

/* What one read() asks for. */
enum {
  PIECE_BYTES = 4096
};

/* A file's bytes while they are read. Zero is empty. */
struct buffer {
  char *bytes;
  size_t length;
  size_t capacity;
};

static enum match_outcome unreadable(const struct corpus_work *work, const char *why,
                                     struct match_error *error) {
  match_error_set(error, "cannot read the work %s: %s; put the file back as it was loaded",
                  work->name, why);
  return MATCH_UNREADABLE;
}

static int buffer_make_room(struct buffer *buffer) {
  if (buffer->capacity - buffer->length >= PIECE_BYTES)
    return 0;
  size_t capacity = buffer->capacity == 0 ? PIECE_BYTES : 2 * buffer->capacity;
  char *bytes = realloc(buffer->bytes, capacity);
  if (bytes == NULL)
    return -1;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  return 0;
}

static enum match_outcome read_descriptor(int file, const struct corpus_work *work,
                                          const atomic_bool *stop, struct buffer *buffer,
                                          struct match_error *error) {
  for (;;) {
    if (match_stopped(stop))
      return MATCH_STOPPED;
    if (buffer_make_room(buffer) != 0)
      return match_out_of_memory(error, "reading the works");
    ssize_t got = read(file, buffer->bytes + buffer->length, PIECE_BYTES);
    if (got == 0)
      return MATCH_OK;
    if (got > 0)
      buffer->length += (size_t)got;
    else if (errno != EINTR)
      return unreadable(work, strerror(errno), error);
  }
}

static enum match_outcome read_file(const struct corpus_work *work, const atomic_bool *stop,
                                    struct buffer *buffer, struct match_error *error) {
  /* Not blocking: a FIFO that took the file's place would keep us for ever. */
  int file = open(work->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return unreadable(work, strerror(errno), error);
  struct stat status;
  enum match_outcome outcome;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    outcome = unreadable(work, "it is no regular file any more", error);
  else
    outcome = read_descriptor(file, work, stop, buffer, error);
  close(file);
  if (outcome == MATCH_OK && memchr(buffer->bytes, '\0', buffer->length) != NULL)
    outcome = unreadable(work, "it holds a NUL byte", error);
  return outcome;
}

static int lines_append(struct match_lines *lines, const char *text, size_t length) {
  if (lines->count == lines->capacity) {
    size_t capacity = lines->capacity == 0 ? 64 : 2 * lines->capacity;
    char **items = realloc(lines->items, capacity * sizeof *items);
    if (items == NULL)
      return -1;
    lines->items = items;
    lines->capacity = capacity;
  }
  char *line = malloc(length + 1);
  if (line == NULL)
    return -1;
  memcpy(line, text, length);
  line[length] = '\0';
  lines->items[lines->count++] = line;
  return 0;
}

/* What follows the last LF is a line only when it is not empty. */
static enum match_outcome split_lines(const struct buffer *file, const atomic_bool *stop,
                                      struct match_lines *lines, struct match_error *error) {
  const char *end = file->bytes + file->length;
  for (const char *at = file->bytes; at < end;) {
    if (match_stopped(stop))
      return MATCH_STOPPED;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *line_end = newline == NULL ? end : newline;
    if (lines_append(lines, at, (size_t)(line_end - at)) != 0)
      return match_out_of_memory(error, "splitting the works into lines");
    at = newline == NULL ? end : newline + 1;
  }
  return MATCH_OK;
}

/*
 * Every file is read before the first is split, and callers free all lines at the
 * end, as careless programs do. So the heap shrinks at the end of a request and
 * the next one faults it in again: 3,650 page faults, a third of version 2's time.
 * Freed file by file there would be none.
 */
enum match_outcome match_read_works(const struct corpus *corpus, const atomic_bool *stop,
                                    struct match_lines *out, struct match_error *error) {
  size_t count = corpus_work_count(corpus);
  struct match_lines lines = {0};
  struct buffer *files = calloc(count, sizeof *files);
  if (files == NULL)
    return match_out_of_memory(error, "reading the works");
  enum match_outcome outcome = MATCH_OK;
  for (size_t i = 0; outcome == MATCH_OK && i < count; i++)
    outcome = read_file(corpus_work_at(corpus, i), stop, &files[i], error);
  for (size_t i = 0; outcome == MATCH_OK && i < count; i++)
    outcome = split_lines(&files[i], stop, &lines, error);
  for (size_t i = 0; i < count; i++)
    free(files[i].bytes);
  free(files);
  if (outcome == MATCH_OK)
    *out = lines;
  else
    match_free_lines(&lines);
  return outcome;
}

void match_free_lines(struct match_lines *lines) {
  for (size_t i = 0; i < lines->count; i++)
    free(lines->items[i]);
  free(lines->items);
  *lines = (struct match_lines){0};
}

enum match_outcome match_reading_prepare(const struct corpus *corpus, void **out_state,
                                         struct match_error *error) {
  struct match_reading *reading = malloc(sizeof *reading);
  if (reading == NULL)
    return match_out_of_memory(error, "preparing the version");
  reading->corpus = corpus;
  *out_state = reading;
  return MATCH_OK;
}

void match_reading_release(void *state) {
  free(state);
}
