#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include <stddef.h>

#include "cursor.h"
#include "rule.h"

/*
 * Translates the DWARF expression up to the cursor's end, which starts with `depth`
 * words on its stack, into at most EXPRESSION_MAX_STEPS steps. Returns how many, or 0 when it
 * uses what is not supported: what the x86-64 code of the distributions' compilers,
 * linkers and assembly needs is.
 */
size_t expression_translate(struct cursor *program, size_t depth,
                            struct expression_step steps[EXPRESSION_MAX_STEPS]);

#endif
