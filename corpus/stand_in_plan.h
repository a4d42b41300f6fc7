#ifndef CORPUS_STAND_IN_PLAN_H
#define CORPUS_STAND_IN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "prng.h"

/* What stands on each line of a generated work. */
enum line_kind {
  LINE_BLANK,
  LINE_TITLE,
  LINE_SCENE,     /* SCENE IV and a place */
  LINE_DIRECTION, /* [Exit SOMEBODY] */
  LINE_NUMERAL,   /* above a sonnet */
  LINE_SPEAKER,   /* SOMEBODY and the first words of a speech */
  LINE_SPEECH,
  LINE_VERSE,
  LINE_COUPLET, /* the last two of a sonnet, indented */
};

/* Whether a line of that kind is running text, whose length may be chosen. */
bool line_kind_is_text(enum line_kind kind);

/* The lay-out of one work, borrowed storage; `done` lines are laid out. */
struct plan {
  enum line_kind *kinds;
  size_t lines; /* more than PLAN_CLOSING_LINES */
  size_t done;
};

/* So many lines at the end are text, in which the rest of the bytes can be placed. */
enum {
  PLAN_CLOSING_LINES = 8
};

/* Lay out a whole play or poem. */
void plan_play(struct plan *plan, struct prng *prng);
void plan_poem(struct plan *plan);

#endif
