#ifndef APP_TEXT_H
#define APP_TEXT_H

#include <stdint.h>

/* Small pieces of output that people read. Pure functions, any thread. */

/* Room for any grouped number, the NUL included. */
#define TEXT_GROUPED_BYTES 32

/* Writes a number with commas between its thousands: "172,948". */
void text_format_grouped(uint64_t number, char out[TEXT_GROUPED_BYTES]);

/*
 * Replaces control characters by '?', so that what comes from files, flags and
 * servers can neither break a line in two nor steer the terminal.
 */
void text_make_one_line(char *text);

#endif
