#ifndef UNWIND_RETIRED_H
#define UNWIND_RETIRED_H

#include <stddef.h>

/* The head of a mapping that walks may still read when its owner has done with it. */
struct retired {
  struct retired *next;
  size_t bytes; /* of the mapping that begins here */
};

#endif
