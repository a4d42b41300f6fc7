#include "corpus/fold.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

enum {
  WORD_BYTES = sizeof(uint64_t)
};

#define EVERY_BYTE(value) ((value)*UINT64_C(0x0101010101010101))

static bool word_is_ascii(uint64_t word) {
  return (word & EVERY_BYTE(0x80)) == 0;
}

/* Lowers eight ASCII bytes at once: no sum of a byte carries into the next. */
static uint64_t word_lower(uint64_t word) {
  uint64_t from_a = word + EVERY_BYTE(0x80 - 'A');      /* bit 7: the byte is 'A' or above */
  uint64_t after_z = word + EVERY_BYTE(0x80 - 'Z' - 1); /* bit 7: the byte is above 'Z' */
  uint64_t upper = from_a & ~after_z & EVERY_BYTE(0x80);
  return word | upper >> 2; /* 0x80 >> 2 is 'a' - 'A' */
}

static bool byte_is_ascii(char byte) {
  return (unsigned char)byte < 0x80;
}

static char byte_lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
}

/* Folds the ASCII bytes that the text begins with; returns how many. */
static size_t fold_ascii(const char *text, size_t length, char *out) {
  size_t done = 0;
  while (length - done >= WORD_BYTES) {
    uint64_t word;
    memcpy(&word, text + done, sizeof word);
    if (!word_is_ascii(word))
      break;
    word = word_lower(word);
    memcpy(out + done, &word, sizeof word);
    done += WORD_BYTES;
  }
  for (; done < length && byte_is_ascii(text[done]); done++)
    out[done] = byte_lower(text[done]);
  return done;
}

/* How many ASCII bytes the text begins with. */
static size_t skip_ascii(const char *text, size_t length) {
  size_t done = 0;
  while (length - done >= WORD_BYTES) {
    uint64_t word;
    memcpy(&word, text + done, sizeof word);
    if (!word_is_ascii(word))
      break;
    done += WORD_BYTES;
  }
  while (done < length && byte_is_ascii(text[done]))
    done++;
  return done;
}

/* Decodes the text's first code point. Returns its bytes, or 0 when it is not UTF-8. */
static size_t decode(const char *text, size_t length, utf8proc_int32_t *out) {
  utf8proc_ssize_t bytes =
      utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, out);
  return bytes > 0 ? (size_t)bytes : 0;
}

/*
 * U+023A and U+023E grow from two bytes to three, and nothing grows by a larger
 * factor; the unit test looks at every code point.
 */
size_t corpus_fold_bound(size_t length) {
  return length + length / 2;
}

size_t corpus_fold(const char *text, size_t length, char *out) {
  const char *end = text + length;
  char *const out_begin = out;
  while (text < end) {
    size_t ascii = fold_ascii(text, (size_t)(end - text), out);
    text += ascii;
    out += ascii;
    if (text == end)
      break;
    utf8proc_int32_t point;
    size_t bytes = decode(text, (size_t)(end - text), &point);
    if (bytes == 0) {
      *out++ = *text++;
      continue;
    }
    text += bytes;
    out += utf8proc_encode_char(utf8proc_tolower(point), (utf8proc_uint8_t *)out);
  }
  return (size_t)(out - out_begin);
}

char *corpus_fold_copy(const char *text, size_t length, size_t *out_length) {
  bool ascii = skip_ascii(text, length) == length;
  char *folded = malloc((ascii ? length : corpus_fold_bound(length)) + 1);
  if (!folded)
    return NULL;
  size_t folded_length = corpus_fold(text, length, folded);
  folded[folded_length] = '\0';
  if (out_length)
    *out_length = folded_length;
  return folded;
}

bool corpus_is_utf8(const char *text, size_t length) {
  const char *end = text + length;
  while ((text += skip_ascii(text, (size_t)(end - text))) < end) {
    utf8proc_int32_t point;
    size_t bytes = decode(text, (size_t)(end - text), &point);
    if (bytes == 0)
      return false;
    text += bytes;
  }
  return true;
}
