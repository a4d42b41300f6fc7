#include "app/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void text_format_grouped(uint64_t number, char out[TEXT_GROUPED_BYTES]) {
  char digits[24];
  size_t count = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
  for (size_t i = 0; i < count; i++) {
    size_t left = count - i;
    if (i > 0 && left % 3 == 0)
      *out++ = ',';
    *out++ = digits[i];
  }
  *out = '\0';
}

void text_make_one_line(char *text) {
  for (; *text != '\0'; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte < 0x20 || byte == 0x7f)
      *text = '?';
  }
}
