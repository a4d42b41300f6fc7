#ifndef FAKE_FOLIO_H
#define FAKE_FOLIO_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A stand-in for Folio that records nothing but how it is called. A profile's bytes are a text:
 * the kind ("session" or "snapshot"), the type's number, the duration in nanoseconds and, up to
 * the size asked for, filling.
 */

/* What was called, and what was not given back. */
struct fake_counts {
  int started;   /* sessions */
  int dropped;   /* of these, stopped without a profile */
  int made;      /* profiles */
  int live;      /* sessions that were not stopped */
  int unfreed;   /* profiles that were not freed */
  int most_live; /* at once */
};

/* Puts everything back to how a program that samples CPU and heap has it. */
void fake_reset(void);

void fake_set_started(bool started);
void fake_set_heap(bool heap);
void fake_set_profile_bytes(size_t bytes);

/* From now on making a profile fails, as it does out of memory. */
void fake_fail_making(void);

/* From now on making a profile waits until it is let go. */
void fake_hold_making(void);
void fake_let_go(void);

/* Waits until so many sessions are live, or so many profiles are being made. */
void fake_wait_live(int count);
void fake_wait_making(int count);

struct fake_counts fake_counts(void);

#endif
