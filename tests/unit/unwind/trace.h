#ifndef UNWIND_TEST_TRACE_H
#define UNWIND_TEST_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Runs code one instruction at a time (the processor's trap flag) and, after each
 * one, compares a walk with the true stack: the return addresses that calls have pushed
 * and that have not been popped, which are known from watching every instruction, without
 * any table.
 */
struct trace_report {
  size_t steps;
  size_t different; /* steps whose walk was not exactly the true stack */
  size_t excused;   /* the same, but in code where that must be so */
  size_t deepest;
};

/* Whether a walk that starts at `pc` may differ. */
typedef bool trace_excuse(uintptr_t pc);

/*
 * Only on one thread at a time; not through code that blocks all signals. `excuse` may be
 * NULL.
 */
struct trace_report trace_run(void (*body)(void *), void *argument, trace_excuse *excuse);

/* Prints the first differences of the last run. */
void trace_print_differences(void);

#endif
