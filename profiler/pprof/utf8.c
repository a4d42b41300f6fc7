#include "utf8.h"

#include <stdint.h>
#include <string.h>

/* U+FFFD. */
static const char replacement[3] = {'\xEF', '\xBF', '\xBD'};

/* What follows a lead byte: how many bytes, and the range of the first of them. */
struct lead {
  unsigned char low, high; /* the lead byte itself */
  unsigned char more;
  unsigned char second_low, second_high;
};

/* Table 3-7 of the Unicode Standard. */
static const struct lead leads[] = {
    {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF}, {0xE1, 0xEC, 2, 0x80, 0xBF},
    {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF}, {0xF0, 0xF0, 3, 0x90, 0xBF},
    {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
};

static const struct lead *lead_find(unsigned char byte) {
  for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
    if (byte >= leads[i].low && byte <= leads[i].high)
      return &leads[i];
  }
  return NULL;
}

/* The bytes of the character that starts here, or 0 when none does. */
static size_t character_length(const unsigned char *at, size_t left) {
  if (*at < 0x80)
    return 1;
  const struct lead *lead = lead_find(*at);
  if (lead == NULL || left <= lead->more || at[1] < lead->second_low || at[1] > lead->second_high)
    return 0;
  for (size_t i = 2; i <= lead->more; i++) {
    if ((at[i] & 0xC0) != 0x80)
      return 0;
  }
  return 1 + (size_t)lead->more;
}

/* How many of the first bytes are ASCII, by eights. */
static size_t ascii_prefix(const unsigned char *text, size_t length) {
  size_t at = 0;
  for (; at + 8 <= length; at += 8) {
    uint64_t word;
    memcpy(&word, text + at, sizeof(word));
    if ((word & UINT64_C(0x8080808080808080)) != 0)
      break;
  }
  return at;
}

bool utf8_is_valid(const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t at = ascii_prefix(bytes, length);
  while (at < length) {
    size_t step = character_length(bytes + at, length - at);
    if (step == 0)
      return false;
    at += step;
  }
  return true;
}

size_t utf8_repaired_max(size_t length) {
  return length * sizeof(replacement);
}

size_t utf8_repair(const char *text, size_t length, char *out) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t used = 0;
  for (size_t at = 0; at < length;) {
    size_t step = character_length(bytes + at, length - at);
    if (step == 0) {
      memcpy(out + used, replacement, sizeof(replacement));
      used += sizeof(replacement);
      at++;
    } else {
      for (; step > 0; step--)
        out[used++] = text[at++];
    }
  }
  return used;
}
