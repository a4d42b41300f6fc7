#include "error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

void corpus_error_set(struct corpus_error *error, const char *format, ...) {
  if (!error)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  for (char *at = error->message; *at; at++) {
    if (iscntrl((unsigned char)*at))
      *at = '?';
  }
}
