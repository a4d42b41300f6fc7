#include "flags.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* More flags than any command has. */
#define MAX_FLAGS 32

#define INDENT "        "

static const struct cli_flag help_flag = {
    .name = "help", .standard = "", .meaning = "print this and exit"};

void cli_refuse(const struct cli_syntax *syntax, const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  cli_text_make_printable(message);
  fprintf(stderr, "%s: %s (see %s -help)\n", syntax->command, message, syntax->command);
}

static void print_flag(const struct cli_flag *flag) {
  char meaning[512];
  printf("  -%s%s%s\n", flag->name, flag->placeholder != NULL ? " " : "",
         flag->placeholder != NULL ? flag->placeholder : "");
  snprintf(meaning, sizeof(meaning), "%s (default %s)", flag->meaning,
           *flag->standard != '\0' ? flag->standard : "none");
  cli_text_print_wrapped(stdout, INDENT, meaning);
}

static void print_help(const struct cli_syntax *syntax) {
  printf("%s [FLAGS] %s\n\n", syntax->command, syntax->operands);
  cli_text_print_wrapped(stdout, "", syntax->purpose);
  printf("\nFlags take one or two dashes, -name value or -name=value:\n\n");
  for (size_t i = 0; i < syntax->flag_count; i++)
    print_flag(&syntax->flags[i]);
  print_flag(&help_flag);
  printf("\nExample: %s\n", syntax->example);
}

/* Reads an unsigned decimal number; false for anything else and for what is above INT64_MAX. */
static bool parse_number(const char *text, int64_t *out) {
  if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
    return false;
  errno = 0;
  *out = strtoll(text, NULL, 10);
  return errno == 0;
}

static bool set_number(const struct cli_syntax *syntax, const struct cli_flag *flag,
                       const char *text, void *field) {
  int64_t value;
  if (!parse_number(text, &value) || value < flag->min || value > flag->max) {
    if (flag->max == INT64_MAX) {
      cli_refuse(syntax, "-%s: \"%s\" is not a whole number of %" PRId64 " or more", flag->name,
                 text, flag->min);
    } else {
      cli_refuse(syntax, "-%s: \"%s\" is not a whole number from %" PRId64 " to %" PRId64,
                 flag->name, text, flag->min, flag->max);
    }
    return false;
  }
  memcpy(field, &value, sizeof(value));
  return true;
}

static bool set_switch(const struct cli_syntax *syntax, const struct cli_flag *flag,
                       const char *text, void *field) {
  bool value = strcmp(text, "true") == 0 || strcmp(text, "on") == 0;
  if (!value && strcmp(text, "false") != 0 && strcmp(text, "off") != 0) {
    cli_refuse(syntax, "-%s: \"%s\" is neither true nor false", flag->name, text);
    return false;
  }
  memcpy(field, &value, sizeof(value));
  return true;
}

static bool set_text(const struct cli_syntax *syntax, const struct cli_flag *flag, const char *text,
                     void *field) {
  if (*text == '\0') {
    cli_refuse(syntax, "-%s: it must not be empty", flag->name);
    return false;
  }
  memcpy(field, &text, sizeof(text));
  return true;
}

static bool flag_set(const struct cli_syntax *syntax, const struct cli_flag *flag, const char *text,
                     void *fields) {
  static bool (*const set[])(const struct cli_syntax *, const struct cli_flag *, const char *,
                             void *) = {
      [CLI_FLAG_TEXT] = set_text,
      [CLI_FLAG_SWITCH] = set_switch,
      [CLI_FLAG_NUMBER] = set_number,
  };
  return set[flag->kind](syntax, flag, text, (char *)fields + flag->field);
}

/* The flags as getopt wants them; the last is -help. */
static void options_from_table(const struct cli_syntax *syntax, struct option *options) {
  assert(syntax->flag_count <= MAX_FLAGS);
  for (size_t i = 0; i < syntax->flag_count; i++) {
    options[i] = (struct option){
        .name = syntax->flags[i].name,
        .has_arg = syntax->flags[i].placeholder != NULL ? required_argument : optional_argument,
    };
  }
  options[syntax->flag_count] = (struct option){.name = help_flag.name, .has_arg = no_argument};
  options[syntax->flag_count + 1] = (struct option){0};
}

/* The name in "-name", "--name" or "-name=value". */
static const char *word_name(const char *word, int *out_length) {
  const char *name = word + strspn(word, "-");
  *out_length = (int)strcspn(name, "=");
  return name;
}

/* The word of argv that getopt takes or refuses next: it passes over operands. */
static const char *next_word(int argc, char **argv) {
  for (int at = optind > 0 ? optind : 1; at < argc; at++) {
    if (argv[at][0] == '-' && argv[at][1] != '\0')
      return argv[at];
  }
  return "";
}

enum cli_parsed cli_parse(const struct cli_syntax *syntax, int argc, char **argv, void *fields,
                          int *out_operands) {
  struct option options[MAX_FLAGS + 2];
  options_from_table(syntax, options);
  optind = 0; /* glibc: start over */
  opterr = 0;
  for (;;) {
    int length;
    int index = 0;
    const char *word = next_word(argc, argv);
    const char *name = word_name(word, &length);
    int taken = getopt_long_only(argc, argv, ":", options, &index);
    if (taken == -1)
      break;
    if (taken == ':') {
      cli_refuse(syntax, "-%.*s: its value is missing", length, name);
      return CLI_REFUSED;
    }
    if (taken != 0 || (size_t)length != strlen(options[index].name)) { /* getopt abbreviates */
      cli_refuse(syntax, "unknown flag -%.*s", length, name);
      return CLI_REFUSED;
    }
    if ((size_t)index == syntax->flag_count) {
      print_help(syntax);
      return CLI_HELP;
    }
    if (!flag_set(syntax, &syntax->flags[index], optarg != NULL ? optarg : "true", fields))
      return CLI_REFUSED;
  }
  *out_operands = optind;
  return CLI_PARSED;
}
