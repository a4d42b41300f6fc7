#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

#include <stdint.h>

#define CLI_QUANTITY_BYTES 64

/*
 * A value of pprof's in a unit for people: nanoseconds become "1.20s" or "350.00ms", bytes
 * "1.50MiB", counts "12,345"; another unit is put behind the number.
 */
void cli_quantity_format(int64_t value, const char *unit, char out[CLI_QUANTITY_BYTES]);

#endif
