#ifndef UNWIND_TEST_SHAPES_H
#define UNWIND_TEST_SHAPES_H

#include <stddef.h>

/*
 * Functions with the frames that compilers make, compiled with optimisation and without
 * frame pointers. Each calls `visit` from inside and gives a number that depends on all
 * of its work.
 */
typedef long shape_visit(void *context);

struct shape {
  const char *name;
  long (*run)(shape_visit *visit, void *context, long seed);
};

extern const struct shape shapes[];
extern const size_t shape_count;

/* Leaves five frames by longjmp. */
long shape_jump(shape_visit *visit, void *context, long seed);

/* Calls itself `depth` times before it visits. */
long shape_recurse(shape_visit *visit, void *context, long depth);

#endif
