#ifndef SAMPLER_LABELS_H
#define SAMPLER_LABELS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Label strings as numbers, so that a signal handler copies a few words. A string keeps its
 * number for the process's life; at most LABEL_STRINGS_MAX are kept.
 */
#define LABEL_STRINGS_MAX 4096
#define LABEL_BYTES_MAX 256

/* The number of a string (cut to LABEL_BYTES_MAX bytes), or 0 when no more can be kept. Any thread.
 */
uint16_t label_intern(const char *text);

/* The string of a number that label_intern() gave. Any thread. */
const char *label_text(uint16_t number);

/*
 * Sets the calling thread's label; value 0 removes it. Returns 0, or -1 when the thread
 * has LABELS_MAX other labels or no slot.
 */
int label_set(uint16_t key, uint16_t value);

#endif
