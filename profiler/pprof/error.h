#ifndef PPROF_ERROR_SET_H
#define PPROF_ERROR_SET_H

#include "pprof/error.h"

/* Formats the message, cut to fit. */
__attribute__((format(printf, 2, 3))) void pprof_error_set(struct pprof_error *error,
                                                           const char *format, ...);

#endif
