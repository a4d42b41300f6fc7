#include "app/flags.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

#include "flags_table.h"

/* More flags than the table will ever have. */
#define MAX_FLAGS 64

const char *program_name(enum program program) {
  static const char *const names[PROGRAM_COUNT] = {
      [PROGRAM_APP] = "shakesapp",
      [PROGRAM_SERVER] = "shakesapp-server",
      [PROGRAM_CLIENT] = "shakesapp-client",
  };
  return names[program];
}

void flags_init(enum program program, struct flags *out) {
  *out = (struct flags){.program = program};
  for (size_t i = 0; i < flags_table_count; i++) {
    const struct flag *flag = &flags_table[i];
    if (flag_belongs_to(flag, program) && flag->kind != FLAG_HELP) {
      struct app_error error;
      int refused = flag_set(flag, flag->standard, out, &error);
      assert(refused == 0);
      (void)refused;
    }
  }
}

/* The program's flags as getopt wants them, each with its row at the same place in `rows`. */
static void options_from_table(enum program program, struct option *options,
                               const struct flag **rows) {
  size_t count = 0;
  for (size_t i = 0; i < flags_table_count; i++) {
    const struct flag *flag = &flags_table[i];
    if (flag_belongs_to(flag, program)) {
      assert(count < MAX_FLAGS);
      rows[count] = flag;
      options[count++] = (struct option){
          .name = flag->name,
          .has_arg = flag->placeholder != NULL ? required_argument : optional_argument,
      };
    }
  }
  options[count] = (struct option){0};
}

/* The name in "-name", "--name" or "-name=value". */
static const char *word_name(const char *word, int *out_length) {
  const char *name = word + strspn(word, "-");
  *out_length = (int)strcspn(name, "=");
  return name;
}

static int refuse_unknown(const struct option *options, const char *word, struct app_error *error) {
  int length;
  const char *name = word_name(word, &length);
  char similar[256] = "";
  size_t used = 0;
  for (; options->name != NULL && used < sizeof(similar); options++) {
    if (length > 0 && strncmp(options->name, name, (size_t)length) == 0) {
      used += (size_t)snprintf(similar + used, sizeof(similar) - used, "%s-%s",
                               used == 0 ? "; write it out: " : " or ", options->name);
    }
  }
  app_error_set(error, "unknown flag -%.*s%s", length, name, similar);
  return -1;
}

/* One step of getopt: 1 when a flag was taken, 0 at the end, -1 with the reason in *error. */
static int take_flag(int argc, char **argv, const struct option *options,
                     const struct flag *const *rows, struct flags *out, struct app_error *error) {
  int at = optind > 0 ? optind : 1;
  const char *word = at < argc ? argv[at] : "";
  int length;
  const char *name = word_name(word, &length);
  int index;
  struct app_error reason;

  switch (getopt_long_only(argc, argv, "+:", options, &index)) {
  case 0:
    break;
  case -1:
    return 0;
  case ':':
    app_error_set(error, "-%.*s: its value is missing", length, name);
    return -1;
  default:
    return refuse_unknown(options, word, error);
  }
  const struct flag *flag = rows[index];
  if ((size_t)length != strlen(flag->name)) /* getopt takes abbreviations */
    return refuse_unknown(options, word, error);
  if (flag_set(flag, optarg != NULL ? optarg : "true", out, &reason) != 0) {
    app_error_set(error, "-%s: %s", flag->name, reason.message);
    return -1;
  }
  return out->help == FLAGS_HELP_NONE ? 1 : 0;
}

int flags_parse(enum program program, int argc, char **argv, struct flags *out,
                struct app_error *error) {
  struct option options[MAX_FLAGS + 1];
  const struct flag *rows[MAX_FLAGS];
  struct flags flags;
  struct app_error reason;
  int taken;

  flags_init(program, &flags);
  options_from_table(program, options, rows);
  optind = 0; /* glibc: start over */
  opterr = 0;
  while ((taken = take_flag(argc, argv, options, rows, &flags, &reason)) > 0) {
  }
  if (taken == 0 && flags.help == FLAGS_HELP_NONE && optind < argc) {
    app_error_set(&reason, "\"%s\" is no flag; flags are given as -name value or -name=value",
                  argv[optind]);
    taken = -1;
  }
  if (taken < 0) {
    const char *name = program_name(program);
    app_error_set(error, "%s: %s (see %s -help)", name, reason.message, name);
    return -1;
  }
  *out = flags;
  return 0;
}
