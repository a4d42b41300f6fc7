#ifndef TEST_SYMBOLIZE_SUPPORT_H
#define TEST_SYMBOLIZE_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/symbolize.h"

/* Value and size of a symbol of a file that is not stripped; it must be there. */
struct fixture_symbol {
  uintptr_t start;
  uintptr_t end;
};

struct fixture_symbol fixture_symbol(const char *path, const char *name);

/* The build id in lower-case hex, "" when it has none. */
void fixture_build_id(const char *path, char out[129]);

/* The first line of a fixture's source that has the text, from 1; it must be there. */
int64_t fixture_line(const char *source, const char *text);

/* Copies a file, executable for its owner. */
void copy_file(const char *from, const char *to);

/* Fails unless the text ends so. */
void assert_ends_with(const char *text, const char *end);

/*
 * One expected frame: its line is the first with `line_text` in the source; the function
 * starts at the first with `start_text`. A NULL linkage is not checked,
 * a NULL line or start is unknown.
 */
struct expected_frame {
  const char *name;
  const char *linkage;
  const char *line_text;
  const char *start_text;
};

/* Fails unless the symbol has exactly these frames. `source` is the file's name. */
void assert_frames(const struct symbol *symbol, const char *source,
                   const struct expected_frame *frames, size_t count);

/* An unknown symbol with this name. */
void assert_unknown(const struct symbol *symbol, const char *name);

#endif
