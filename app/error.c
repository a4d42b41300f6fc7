#include "app/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "app/text.h"

void app_error_set(struct app_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof(error->message), format, arguments);
  va_end(arguments);
  text_make_one_line(error->message);
}
