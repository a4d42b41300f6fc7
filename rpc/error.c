#include "rpc/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void rpc_error_set(struct rpc_error *error, const char *format, ...) {
  if (error == NULL)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof(error->message), format, arguments);
  va_end(arguments);
}
