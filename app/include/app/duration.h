#ifndef APP_DURATION_H
#define APP_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Durations in Go's notation (https://pkg.go.dev/time#Duration), in nanoseconds.
 * Pure functions, any thread.
 */

/* Room for any duration's text, the NUL included. */
#define DURATION_TEXT_BYTES 48

/* Writes as Duration.String does: "3.67s", "1m32.23s", "980ms", "1h0m5s", "0s". */
void duration_format(int64_t duration_ns, char out[DURATION_TEXT_BYTES]);

/*
 * The multiple of `multiple_ns` (above 0) that is nearest, halves away from zero, as
 * Duration.Round; the nearest int64_t where that is out of range.
 */
int64_t duration_round(int64_t duration_ns, int64_t multiple_ns);

/*
 * Reads what time.ParseDuration reads: numbers with a unit each, such as "90s",
 * "1m30s", "1.5h" or "500ms". Returns false for anything else.
 */
bool duration_parse(const char *text, int64_t *out_ns);

#endif
