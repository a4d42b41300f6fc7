#ifndef CORPUS_ERROR_H
#define CORPUS_ERROR_H

#include "corpus/corpus.h"

/*
 * Formats the message, cut to fit. Control characters, which a file's name may
 * hold, become '?', so that the message stays one line. A NULL error is ignored.
 */
__attribute__((format(printf, 2, 3))) void corpus_error_set(struct corpus_error *error,
                                                            const char *format, ...);

#endif
