#include "query.h"

#include <string.h>

static int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  if (digit >= 'a' && digit <= 'f')
    return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F')
    return digit - 'A' + 10;
  return -1;
}

bool query_unescape(const char *bytes, size_t length, bool plus_is_space, struct query_text *out) {
  size_t used = 0;
  for (size_t i = 0; i < length; i++) {
    char byte = bytes[i];
    if (byte == '+' && plus_is_space)
      byte = ' ';
    if (byte == '%') {
      int high = length - i > 2 ? hex_digit(bytes[i + 1]) : -1;
      int low = length - i > 2 ? hex_digit(bytes[i + 2]) : -1;
      if (high < 0 || low < 0)
        return false;
      byte = (char)(high * 16 + low);
      i += 2;
    }
    if (used == QUERY_URI_BYTES_MAX)
      return false;
    out->bytes[used++] = byte;
  }
  out->bytes[used] = '\0';
  out->length = used;
  return true;
}

static bool equals(const struct query_text *text, const char *expected) {
  return text->length == strlen(expected) && memcmp(text->bytes, expected, text->length) == 0;
}

/* Whether the pair is well-formed and its key is `key`; then *out is its value. */
static bool read_pair(const char *pair, size_t length, const char *key, struct query_text *out) {
  if (length == 0 || memchr(pair, ';', length) != NULL)
    return false;
  const char *equal_sign = memchr(pair, '=', length);
  size_t key_length = equal_sign != NULL ? (size_t)(equal_sign - pair) : length;
  struct query_text pair_key;
  if (!query_unescape(pair, key_length, true, &pair_key) || !equals(&pair_key, key))
    return false;
  size_t value_at = equal_sign != NULL ? key_length + 1 : length;
  return query_unescape(pair + value_at, length - value_at, true, out);
}

bool query_find(const char *query, const char *key, struct query_text *out) {
  while (*query != '\0') {
    size_t length = strcspn(query, "&");
    if (read_pair(query, length, key, out))
      return true;
    query += length;
    if (*query == '&')
      query++;
  }
  return false;
}

bool query_integer(const struct query_text *text, int64_t *out) {
  const char *at = text->bytes;
  const char *end = text->bytes + text->length;
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  *out = 0;
  if (at == end)
    return false;
  for (const char *digit = at; digit < end; digit++) {
    if (*digit < '0' || *digit > '9')
      return false;
  }
  int64_t value = 0; /* at or below zero, so that INT64_MIN fits */
  for (; at < end; at++) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_sub_overflow(value, *at - '0', &value)) {
      *out = negative ? INT64_MIN : INT64_MAX;
      return false;
    }
  }
  if (!negative && value == INT64_MIN) {
    *out = INT64_MAX;
    return false;
  }
  *out = negative ? value : -value;
  return true;
}
