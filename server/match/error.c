#include "match/match.h"

#include <stdarg.h>
#include <stdio.h>

void match_error_set(struct match_error *error, const char *format, ...) {
  if (error == NULL)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
}
