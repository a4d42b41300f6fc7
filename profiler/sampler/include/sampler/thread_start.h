#ifndef SAMPLER_THREAD_START_H
#define SAMPLER_THREAD_START_H

#include <stdbool.h>

/*
 * Threads that the program creates by pthread_create() are known from their first
 * instruction to their last, with their stack; others are found by the reader.
 */

/* Turns it on once Folio runs; before, pthread_create() is the C library's. */
void thread_start_watch(void);

/* The main thread's stack, for its slot. Once, on any thread. */
void thread_start_note_main(void);

#endif
