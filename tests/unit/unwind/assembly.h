#ifndef UNWIND_TEST_ASSEMBLY_H
#define UNWIND_TEST_ASSEMBLY_H

#include <stdint.h>

/* Functions whose frames no compiler makes. */

/* Calls function(argument) on the stack that ends at `top`; the chain of frames goes on in this
 * one. */
long assembly_switch_stack(long (*function)(void *), void *argument, uintptr_t top);

/* Raises SIGILL by its first instruction, which has 2 bytes; another rule holds up to right before
 * it. */
void assembly_trap(void);

/* The same without a rule, in a leaf function. */
void assembly_trap_without_rule(void);

/* Calls function(argument) from a frame with a frame pointer, without a rule. */
long assembly_call_without_rule(long (*function)(void *), void *argument);

/*
 * clone() by the bare system call; returns in the parent. The child takes a function and its
 * argument from its stack and begins it with the next word as return address.
 */
long assembly_clone(unsigned long flags, uintptr_t *stack, int *parent_tid, int *child_tid);

/* Code to be copied: calls function(argument), with a frame pointer and without. */
extern const unsigned char assembly_with_frame[], assembly_with_frame_end[];
extern const unsigned char assembly_without_frame[], assembly_without_frame_end[];

#endif
