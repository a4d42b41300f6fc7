#include "flags_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/duration.h"

static void *field_of(const struct flag *flag, struct flags *flags) {
  return (char *)flags + flag->field;
}

/* Reads an unsigned decimal number; false for anything else and for what is above INT64_MAX. */
static bool parse_number(const char *text, int64_t *out) {
  if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
    return false;
  errno = 0;
  *out = strtoll(text, NULL, 10);
  return errno == 0;
}

/* `"x" is not a whole number from 1 to 100000 or "auto"` */
static int refuse_number(const struct flag *flag, const char *text, struct app_error *error) {
  char word[64] = "";
  if (flag->zero != NULL)
    snprintf(word, sizeof(word), " or \"%s\"", flag->zero);
  if (flag->max == INT64_MAX) {
    app_error_set(error, "\"%s\" is not a whole number of %" PRId64 " or more%s", text, flag->min,
                  word);
  } else {
    app_error_set(error, "\"%s\" is not a whole number from %" PRId64 " to %" PRId64 "%s", text,
                  flag->min, flag->max, word);
  }
  return -1;
}

/* Whether the text is the flag's word for 0. */
static bool is_zero(const struct flag *flag, const char *text) {
  return flag->zero != NULL && strcmp(text, flag->zero) == 0;
}

static int set_number(const struct flag *flag, const char *text, struct flags *out,
                      struct app_error *error) {
  int64_t value;
  if (is_zero(flag, text))
    value = 0;
  else if (!parse_number(text, &value) || value < flag->min || value > flag->max)
    return refuse_number(flag, text, error);
  *(int64_t *)field_of(flag, out) = value;
  return 0;
}

static int set_duration(const struct flag *flag, const char *text, struct flags *out,
                        struct app_error *error) {
  int64_t value;
  if (is_zero(flag, text)) {
    value = 0;
  } else if (!duration_parse(text, &value) || value < 0) {
    app_error_set(error, "\"%s\" is not a duration of 0 or more, such as 90s, 1m30s or 500ms",
                  text);
    return -1;
  }
  *(int64_t *)field_of(flag, out) = value;
  return 0;
}

static bool parse_switch(const char *text, bool *out) {
  *out = strcmp(text, "true") == 0 || strcmp(text, "on") == 0;
  return *out || strcmp(text, "false") == 0 || strcmp(text, "off") == 0;
}

static int set_switch(const struct flag *flag, const char *text, struct flags *out,
                      struct app_error *error) {
  bool value;
  if (!parse_switch(text, &value)) {
    app_error_set(error, "\"%s\" is neither true nor false", text);
    return -1;
  }
  *(bool *)field_of(flag, out) = value;
  return 0;
}

static int set_text(const struct flag *flag, const char *text, struct flags *out,
                    struct app_error *error) {
  if (flag->required && *text == '\0') {
    app_error_set(error, "it must not be empty");
    return -1;
  }
  *(const char **)field_of(flag, out) = text;
  return 0;
}

static int refuse_version(const char *text, struct app_error *error) {
  char numbers[128] = "";
  size_t length = 0;
  for (size_t i = 0; i < match_version_count() && length < sizeof(numbers); i++) {
    length += (size_t)snprintf(numbers + length, sizeof(numbers) - length, "%s%d",
                               i == 0 ? "" : ", ", match_version_at(i)->number);
  }
  app_error_set(error, "there is no version \"%s\", only %s", text, numbers);
  return -1;
}

static int set_version(const struct flag *flag, const char *text, struct flags *out,
                       struct app_error *error) {
  int64_t number;
  const struct match_version *version = NULL;
  if (parse_number(text, &number) && number <= INT32_MAX)
    version = match_version_find((int)number);
  if (version == NULL)
    return refuse_version(text, error);
  *(const struct match_version **)field_of(flag, out) = version;
  return 0;
}

static int set_help(const struct flag *flag, const char *text, struct flags *out,
                    struct app_error *error) {
  enum flags_help value;
  if (strcmp(text, "true") == 0) {
    value = FLAGS_HELP_TEXT;
  } else if (strcmp(text, "markdown") == 0) {
    value = FLAGS_HELP_MARKDOWN;
  } else {
    app_error_set(error, "\"%s\" is no form of it: leave it out or say markdown", text);
    return -1;
  }
  *(enum flags_help *)field_of(flag, out) = value;
  return 0;
}

/* Lets only the default through, in any spelling of a switch. */
static int refuse_not_built(const struct flag *flag, const char *text, struct app_error *error) {
  bool value;
  bool standard;
  if (strcmp(text, flag->standard) == 0 ||
      (flag->kind == FLAG_SWITCH && parse_switch(text, &value) &&
       parse_switch(flag->standard, &standard) && value == standard))
    return 0;
  app_error_set(error, "the profiler that it belongs to is not built yet; leave it out");
  return -1;
}

int flag_set(const struct flag *flag, const char *text, struct flags *out,
             struct app_error *error) {
  static int (*const set[])(const struct flag *, const char *, struct flags *,
                            struct app_error *) = {
      [FLAG_TEXT] = set_text,         [FLAG_SWITCH] = set_switch,   [FLAG_NUMBER] = set_number,
      [FLAG_DURATION] = set_duration, [FLAG_VERSION] = set_version, [FLAG_HELP] = set_help,
  };
  return flag->not_built ? refuse_not_built(flag, text, error)
                         : set[flag->kind](flag, text, out, error);
}
