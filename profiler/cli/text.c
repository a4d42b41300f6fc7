#include "text.h"

#include <string.h>

#define WIDTH 80

/* C1 control characters, U+0080 to U+009F, are C2 80 to C2 9F in UTF-8. */
static size_t control_length(const char *text) {
  const unsigned char *bytes = (const unsigned char *)text;
  if (bytes[0] < 0x20 || bytes[0] == 0x7F)
    return 1;
  return bytes[0] == 0xC2 && bytes[1] >= 0x80 && bytes[1] <= 0x9F ? 2 : 0;
}

void cli_text_make_printable(char *text) {
  while (*text != '\0') {
    for (size_t length = control_length(text); length > 0; length--)
      *text++ = '?';
    if (*text != '\0' && control_length(text) == 0)
      text++;
  }
}

void cli_text_print(FILE *out, const char *text) {
  while (*text != '\0') {
    size_t plain = 0;
    while (text[plain] != '\0' && control_length(text + plain) == 0)
      plain++;
    fwrite(text, 1, plain, out);
    text += plain;
    size_t control = *text != '\0' ? control_length(text) : 0;
    if (control > 0)
      fputc('?', out);
    text += control;
  }
}

void cli_text_print_wrapped(FILE *out, const char *indent, const char *text) {
  size_t column = 0;
  while (*text != '\0') {
    size_t word = strcspn(text, " ");
    if (column > 0 && column + 1 + word > WIDTH) {
      fputc('\n', out);
      column = 0;
    }
    column += (size_t)fprintf(out, "%s%.*s", column == 0 ? indent : " ", (int)word, text);
    text += word;
    text += *text == ' ';
  }
  fputc('\n', out);
}
