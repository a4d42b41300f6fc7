#include "captured.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* A stream that goes to a temporary file for a while. */
struct detour {
  FILE *stream;
  FILE *file;
  int kept;
};

static struct detour detour_start(FILE *stream) {
  struct detour detour = {.stream = stream, .file = tmpfile()};
  assert_non_null(detour.file);
  fflush(stream);
  detour.kept = dup(fileno(stream));
  assert_int_not_equal(detour.kept, -1);
  assert_int_not_equal(dup2(fileno(detour.file), fileno(stream)), -1);
  return detour;
}

static void detour_end(struct detour *detour, char *out, size_t out_size) {
  fflush(detour->stream);
  dup2(detour->kept, fileno(detour->stream));
  close(detour->kept);
  rewind(detour->file);
  out[fread(out, 1, out_size - 1, detour->file)] = '\0';
  fclose(detour->file);
}

void capture(int (*call)(void *), void *argument, struct captured *captured) {
  struct detour out = detour_start(stdout);
  struct detour err = detour_start(stderr);
  captured->status = call(argument);
  detour_end(&err, captured->err, sizeof(captured->err));
  detour_end(&out, captured->out, sizeof(captured->out));
}
