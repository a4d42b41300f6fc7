#ifndef CORPUS_STAND_IN_H
#define CORPUS_STAND_IN_H

#include "corpus/corpus.h"

/*
 * Puts the generated text where `folder` is, in place of whatever is there. The
 * folder appears complete or not at all, by one rename, so that any number of
 * processes may do so at once and none sees a half. Missing parent folders are
 * made. Returns 0, or -1 and fills *error.
 */
int stand_in_write(const char *folder, struct corpus_error *error);

#endif
