#ifndef APP_FLAGS_TABLE_H
#define APP_FLAGS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/flags.h"

/* How a flag's value is read and what type its field in struct flags has. */
enum flag_kind {
  FLAG_TEXT,     /* const char * */
  FLAG_SWITCH,   /* bool; needs no value */
  FLAG_NUMBER,   /* int64_t, from min to max */
  FLAG_DURATION, /* int64_t in nanoseconds, 0 or more */
  FLAG_VERSION,  /* const struct match_version * */
  FLAG_HELP,     /* enum flags_help; needs no value */
};

struct flag {
  const char *name;
  const char *placeholder; /* of the value, for -help; NULL where none is needed */
  const char *standard;    /* the default, as a user would give it */
  const char *meaning;
  unsigned programs; /* bit 1 << enum program */
  enum flag_kind kind;
  size_t field;     /* offset in struct flags */
  int64_t min, max; /* FLAG_NUMBER: both included */
  const char *zero; /* a word that may be given for 0, such as "none"; or NULL */
  bool required;    /* FLAG_TEXT: "" is refused */
  bool not_built;   /* has no field yet: a value other than the default is refused */
};

extern const struct flag flags_table[];
extern const size_t flags_table_count;

static inline bool flag_belongs_to(const struct flag *flag, enum program program) {
  return (flag->programs & 1U << program) != 0;
}

/*
 * Reads `text` as the flag's value into its field of *out. Returns 0, or -1 and the reason in
 * *error, without the flag's name.
 */
int flag_set(const struct flag *flag, const char *text, struct flags *out, struct app_error *error);

#endif
