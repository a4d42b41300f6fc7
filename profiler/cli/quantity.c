#include "quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Units that are shown in others: `scale` of the smallest are one. */
struct unit {
  const char *name;
  double scale;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

static const struct unit sizes[] = {
    {"B", 1},
    {"KiB", 1024},
    {"MiB", 1024.0 * 1024},
    {"GiB", 1024.0 * 1024 * 1024},
    {"TiB", 1024.0 * 1024 * 1024 * 1024},
};

/* Names that profiles use, and what they are of the smallest unit. */
static const struct {
  const char *name;
  const struct unit *units;
  size_t unit_count;
  double scale;
} names[] = {
    {"nanoseconds", times, sizeof(times) / sizeof(times[0]), 1},
    {"microseconds", times, sizeof(times) / sizeof(times[0]), 1e3},
    {"milliseconds", times, sizeof(times) / sizeof(times[0]), 1e6},
    {"seconds", times, sizeof(times) / sizeof(times[0]), 1e9},
    {"bytes", sizes, sizeof(sizes) / sizeof(sizes[0]), 1},
};

static void format_scaled(double value, const struct unit *units, size_t count,
                          char out[CLI_QUANTITY_BYTES]) {
  double magnitude = value < 0 ? -value : value;
  size_t at = 0;
  /* 999.995 would be rounded to 1000.00: the next unit shows it better. */
  while (at + 1 < count && magnitude >= units[at + 1].scale * 0.999995)
    at++;
  snprintf(out, CLI_QUANTITY_BYTES, "%.*f%s", at == 0 ? 0 : 2, value / units[at].scale,
           units[at].name);
}

/* With a comma before each three digits. */
static void format_grouped(int64_t value, char out[CLI_QUANTITY_BYTES]) {
  char digits[24];
  int count =
      snprintf(digits, sizeof(digits), "%" PRIu64, value < 0 ? -(uint64_t)value : (uint64_t)value);
  if (value < 0)
    *out++ = '-';
  for (int i = 0; i < count; i++) {
    if (i > 0 && (count - i) % 3 == 0)
      *out++ = ',';
    *out++ = digits[i];
  }
  *out = '\0';
}

void cli_quantity_format(int64_t value, const char *unit, char out[CLI_QUANTITY_BYTES]) {
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcmp(unit, names[i].name) == 0) {
      format_scaled((double)value * names[i].scale, names[i].units, names[i].unit_count, out);
      return;
    }
  }
  format_grouped(value, out);
  size_t used = strlen(out);
  if (*unit != '\0' && strcmp(unit, "count") != 0)
    snprintf(out + used, CLI_QUANTITY_BYTES - used, " %s", unit);
}
