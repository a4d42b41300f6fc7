#ifndef UNWIND_EVALUATE_H
#define UNWIND_EVALUATE_H

#include <stdbool.h>
#include <stdint.h>

#include "code_table.h"
#include "frame.h"

/*
 * The value that a wide rule's place gives for a frame; `same` is the register's own
 * value and `cfa` the frame's CFA, or 0 while that is being found. False when memory or
 * a register that it needs cannot be read. Async-signal-safe.
 */
bool evaluate_place(const struct code_table *table, const struct place *place,
                    const struct frame *frame, struct stack_view *view, uintptr_t cfa,
                    uintptr_t same, uintptr_t *out);

#endif
