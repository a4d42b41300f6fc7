#ifndef PPROF_ERROR_H
#define PPROF_ERROR_H

/* What is wrong with a profile, on one line without a newline. */
struct pprof_error {
  char message[256];
};

#endif
