#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest path and query that is looked at. */
#define QUERY_URI_BYTES_MAX 2048

/* A decoded piece of a URI. It may hold NUL bytes; another one follows it. */
struct query_text {
  size_t length;
  char bytes[QUERY_URI_BYTES_MAX + 1];
};

/*
 * Undoes percent encoding of `length` bytes, and turns + into a space where `plus_is_space`.
 * Returns false when the encoding is malformed or the text is too long.
 */
bool query_unescape(const char *bytes, size_t length, bool plus_is_space, struct query_text *out);

/*
 * The first value of `key` in `query`, the part of a URI after its question mark, read as
 * Go's url.ParseQuery does: pairs that are malformed or hold a semicolon are passed over.
 * Returns false when there is none.
 */
bool query_find(const char *query, const char *key, struct query_text *out);

/*
 * Reads a whole text as a decimal number, as Go's strconv.ParseInt does. *out is always
 * written: on failure it is 0, or the nearest possible number when it is out of range.
 */
bool query_integer(const struct query_text *text, int64_t *out);

#endif
