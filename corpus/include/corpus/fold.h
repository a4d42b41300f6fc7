#ifndef CORPUS_FOLD_H
#define CORPUS_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Case folding: simple Unicode lower case, code point by code point, as Go's
 * strings.ToLower does, so that "É" finds "é". Unlike there, bytes that are not
 * UTF-8 stay as they are. Text that is ASCII takes a byte path.
 *
 * All functions are pure and may be called by any thread.
 */

/* The most bytes that folding `length` bytes can give: a code point may grow. */
size_t corpus_fold_bound(size_t length);

/*
 * Folds into `out`, which has room for corpus_fold_bound(length) and does not
 * overlap `text`. Returns the bytes written.
 */
size_t corpus_fold(const char *text, size_t length, char *out);

/*
 * Folds into a fresh string, NUL-terminated. Returns it owned (free it), or NULL
 * when memory ran out. `out_length` may be NULL.
 */
char *corpus_fold_copy(const char *text, size_t length, size_t *out_length);

/* Whether the bytes are well-formed UTF-8 (no surrogates, nothing overlong, at most U+10FFFF). */
bool corpus_is_utf8(const char *text, size_t length);

#endif
