#ifndef CORPUS_STAND_IN_TEXT_H
#define CORPUS_STAND_IN_TEXT_H

#include "vocabulary.h"
#include "works.h"

/*
 * Writes the generated text of one work of the table: as many bytes and lines as
 * the real one has, from integer arithmetic only, so that it is the same on every
 * machine. `out` has room for work->bytes. Returns 0, or -1 when memory ran out.
 */
int stand_in_text_write(const struct work *work, const struct vocabulary *vocabulary, char *out);

#endif
