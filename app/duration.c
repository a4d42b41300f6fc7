#include "app/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MICROSECOND_NS UINT64_C(1000)
#define MILLISECOND_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)
#define HOUR_NS (60 * MINUTE_NS)

/* The magnitude of INT64_MIN: the largest that a sign can still be put before. */
#define MAX_MAGNITUDE (UINT64_C(1) << 63)

static uint64_t magnitude(int64_t duration_ns) {
  return duration_ns < 0 ? -(uint64_t)duration_ns : (uint64_t)duration_ns;
}

/* Writes value / unit_ns, where unit_ns is 10 to the power of `digits`, without trailing zeros. */
static void format_decimal(uint64_t value_ns, uint64_t unit_ns, int digits, char out[32]) {
  int length = snprintf(out, 32, "%" PRIu64, value_ns / unit_ns);
  uint64_t fraction = value_ns % unit_ns;
  if (fraction == 0)
    return;
  while (fraction % 10 == 0) {
    fraction /= 10;
    digits--;
  }
  snprintf(out + length, 32 - (size_t)length, ".%0*" PRIu64, digits, fraction);
}

void duration_format(int64_t duration_ns, char out[DURATION_TEXT_BYTES]) {
  const char *sign = duration_ns < 0 ? "-" : "";
  uint64_t rest = magnitude(duration_ns);
  char number[32];

  if (rest == 0) {
    snprintf(out, DURATION_TEXT_BYTES, "0s");
  } else if (rest < MICROSECOND_NS) {
    snprintf(out, DURATION_TEXT_BYTES, "%s%" PRIu64 "ns", sign, rest);
  } else if (rest < MILLISECOND_NS) {
    format_decimal(rest, MICROSECOND_NS, 3, number);
    snprintf(out, DURATION_TEXT_BYTES, "%s%sµs", sign, number);
  } else if (rest < SECOND_NS) {
    format_decimal(rest, MILLISECOND_NS, 6, number);
    snprintf(out, DURATION_TEXT_BYTES, "%s%sms", sign, number);
  } else {
    uint64_t hours = rest / HOUR_NS;
    uint64_t minutes = rest % HOUR_NS / MINUTE_NS;
    format_decimal(rest % MINUTE_NS, SECOND_NS, 9, number);
    if (hours > 0) {
      snprintf(out, DURATION_TEXT_BYTES, "%s%" PRIu64 "h%" PRIu64 "m%ss", sign, hours, minutes,
               number);
    } else if (minutes > 0) {
      snprintf(out, DURATION_TEXT_BYTES, "%s%" PRIu64 "m%ss", sign, minutes, number);
    } else {
      snprintf(out, DURATION_TEXT_BYTES, "%s%ss", sign, number);
    }
  }
}

int64_t duration_round(int64_t duration_ns, int64_t multiple_ns) {
  uint64_t multiple = (uint64_t)multiple_ns;
  uint64_t value = magnitude(duration_ns);
  uint64_t rest = value % multiple;
  uint64_t rounded = rest < multiple - rest ? value - rest : value - rest + multiple;

  if (duration_ns < 0)
    return rounded >= MAX_MAGNITUDE ? INT64_MIN : -(int64_t)rounded;
  return rounded >= MAX_MAGNITUDE ? INT64_MAX : (int64_t)rounded;
}

/* Reads digits at *at and moves behind them; false when the number is above MAX_MAGNITUDE. */
static bool parse_whole(const char **at, uint64_t *out) {
  uint64_t value = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) {
    if (value > MAX_MAGNITUDE / 10)
      return false;
    value = value * 10 + (uint64_t)(**at - '0');
  }
  *out = value;
  return value <= MAX_MAGNITUDE;
}

/* Reads the digits behind a point; those beyond what 63 bits hold are passed over, as in Go. */
static void parse_fraction(const char **at, uint64_t *out_digits, double *out_scale) {
  uint64_t digits = 0;
  double scale = 1;
  bool full = false;
  for (; **at >= '0' && **at <= '9'; ++*at) {
    full = full || digits > (MAX_MAGNITUDE - 1) / 10;
    if (!full) {
      digits = digits * 10 + (uint64_t)(**at - '0');
      scale *= 10;
    }
  }
  *out_digits = digits;
  *out_scale = scale;
}

/* Reads a unit's name at *at and moves behind it; 0 when there is no such unit. */
static uint64_t parse_unit(const char **at) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {
      {"ns", 1},
      {"us", MICROSECOND_NS},
      {"\u00b5s", MICROSECOND_NS}, /* the micro sign */
      {"\u03bcs", MICROSECOND_NS}, /* the Greek letter mu */
      {"ms", MILLISECOND_NS},
      {"s", SECOND_NS},
      {"m", MINUTE_NS},
      {"h", HOUR_NS},
  };
  size_t length = strcspn(*at, ".0123456789");
  for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
    if (strlen(units[i].name) == length && memcmp(units[i].name, *at, length) == 0) {
      *at += length;
      return units[i].ns;
    }
  }
  return 0;
}

/* Reads one number with its unit, such as "1.5h". */
static bool parse_part(const char **at, uint64_t *out_ns) {
  uint64_t whole;
  uint64_t fraction = 0;
  double scale = 1;
  const char *start = *at;

  if (!parse_whole(at, &whole))
    return false;
  bool has_digits = *at > start;
  if (**at == '.') {
    const char *point = (*at)++;
    parse_fraction(at, &fraction, &scale);
    has_digits = has_digits || *at > point + 1;
  }
  uint64_t unit = has_digits ? parse_unit(at) : 0;
  if (unit == 0 || whole > MAX_MAGNITUDE / unit)
    return false;
  *out_ns = whole * unit + (uint64_t)((double)fraction * ((double)unit / scale));
  return *out_ns <= MAX_MAGNITUDE;
}

bool duration_parse(const char *text, int64_t *out_ns) {
  const char *at = text;
  bool negative = *at == '-';
  uint64_t total = 0;

  if (*at == '-' || *at == '+')
    at++;
  if (strcmp(at, "0") == 0) {
    *out_ns = 0;
    return true;
  }
  if (*at == '\0')
    return false;
  while (*at != '\0') {
    uint64_t part;
    if (!parse_part(&at, &part))
      return false;
    total += part;
    if (total > MAX_MAGNITUDE)
      return false;
  }
  if (total == MAX_MAGNITUDE && !negative)
    return false;
  *out_ns = negative ? (int64_t)-total : (int64_t)total;
  return true;
}
