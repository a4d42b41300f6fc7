#ifndef PPROF_UTF8_H
#define PPROF_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes are UTF-8: no overlong form, no surrogate, nothing over U+10FFFF. */
bool utf8_is_valid(const char *text, size_t length);

/* The most bytes that utf8_repair() writes for so many. */
size_t utf8_repaired_max(size_t length);

/*
 * Copies the text with each byte that belongs to no character replaced by U+FFFD.
 * Returns the length; nothing is put behind it.
 */
size_t utf8_repair(const char *text, size_t length, char *out);

#endif
