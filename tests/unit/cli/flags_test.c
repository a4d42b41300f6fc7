#include "flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "captured.h"

struct values {
  const char *name;
  int64_t number;
  bool on;
};

static const struct cli_flag flags[] = {
    {.name = "name",
     .placeholder = "NAME",
     .standard = "x",
     .meaning = "a text",
     .kind = CLI_FLAG_TEXT,
     .field = offsetof(struct values, name)},
    {.name = "number",
     .placeholder = "N",
     .standard = "5",
     .meaning = "a number",
     .kind = CLI_FLAG_NUMBER,
     .field = offsetof(struct values, number),
     .min = 1,
     .max = 10},
    {.name = "n",
     .placeholder = "N",
     .standard = "5",
     .meaning = "another",
     .kind = CLI_FLAG_NUMBER,
     .field = offsetof(struct values, number),
     .max = INT64_MAX},
    {.name = "on",
     .standard = "false",
     .meaning = "a switch",
     .kind = CLI_FLAG_SWITCH,
     .field = offsetof(struct values, on)},
};

static const struct cli_syntax syntax = {
    .command = "folio test",
    .operands = "FILE...",
    .purpose = "Tests flags.",
    .example = "folio test -on x",
    .flags = flags,
    .flag_count = sizeof(flags) / sizeof(flags[0]),
};

struct parse {
  char *argv[12];
  int argc;
  struct values values;
  enum cli_parsed result;
  int operands;
};

static int run_parse(void *argument) {
  struct parse *parse = argument;
  parse->result = cli_parse(&syntax, parse->argc, parse->argv, &parse->values, &parse->operands);
  return 0;
}

/* Parses words separated by spaces. */
static struct parse parse(const char *words, struct captured *captured) {
  static char text[256];
  struct parse parse = {.argv = {(char[]){"test"}}, .argc = 1, .values = {"x", 5, false}};
  char *rest;
  memccpy(text, words, '\0', sizeof(text));
  for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
    parse.argv[parse.argc++] = word;
  capture(run_parse, &parse, captured);
  return parse;
}

static void test_forms(void **state) {
  (void)state;
  static const struct {
    const char *words;
    struct values values;
    const char *first_operand; /* NULL: none */
  } cases[] = {
      {"", {"x", 5, false}, NULL},
      {"a b", {"x", 5, false}, "a"},
      {"-name foo -number 7 -on a", {"foo", 7, true}, "a"},
      {"--name=foo --number=7 --on=true", {"foo", 7, true}, NULL},
      {"-name=-on", {"-on", 5, false}, NULL},
      {"-n 99", {"x", 99, false}, NULL},
      {"-n=0", {"x", 0, false}, NULL},
      {"-on -on=false", {"x", 5, false}, NULL},
      {"-on=on", {"x", 5, true}, NULL},
      {"-number 1 -number 10", {"x", 10, false}, NULL},
      {"a -on -number 3", {"x", 3, true}, "a"},
      {"-on -- -name", {"x", 5, true}, "-name"},
      {"-", {"x", 5, false}, "-"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct captured captured;
    struct parse parsed = parse(cases[i].words, &captured);
    assert_string_equal(captured.err, "");
    assert_string_equal(captured.out, "");
    assert_int_equal(parsed.result, CLI_PARSED);
    assert_string_equal(parsed.values.name, cases[i].values.name);
    assert_int_equal(parsed.values.number, cases[i].values.number);
    assert_int_equal(parsed.values.on, cases[i].values.on);
    if (cases[i].first_operand == NULL)
      assert_int_equal(parsed.operands, parsed.argc);
    else
      assert_string_equal(parsed.argv[parsed.operands], cases[i].first_operand);
  }
}

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    const char *words;
    const char *message;
  } cases[] = {
      {"-unknown", "unknown flag -unknown"},
      {"a --unknown=5", "unknown flag -unknown"},
      {"-nam x", "unknown flag -nam"},
      {"-num 5", "unknown flag -num"},
      {"-o", "unknown flag -o"},
      {"-n5", "unknown flag -n5"},
      {"-hel", "unknown flag -hel"},
      {"-help=x", "unknown flag -help"},
      {"-number", "-number: its value is missing"},
      {"-name=", "-name: it must not be empty"},
      {"-number 11", "-number: \"11\" is not a whole number from 1 to 10"},
      {"-number 0", "-number: \"0\" is not a whole number from 1 to 10"},
      {"-number 5x", "-number: \"5x\" is not a whole number from 1 to 10"},
      {"-number=", "-number: \"\" is not a whole number from 1 to 10"},
      {"-n -1", "-n: \"-1\" is not a whole number of 0 or more"},
      {"-n 9223372036854775808", "-n: \"9223372036854775808\" is not a whole number of 0 or more"},
      {"-on=maybe", "-on: \"maybe\" is neither true nor false"},
      {"-name=\x1b -number=\x1b[2J", "-number: \"?[2J\" is not a whole number from 1 to 10"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct captured captured;
    char expected[256];
    struct parse parsed = parse(cases[i].words, &captured);
    snprintf(expected, sizeof(expected), "folio test: %s (see folio test -help)\n",
             cases[i].message);
    assert_string_equal(captured.err, expected);
    assert_string_equal(captured.out, "");
    assert_int_equal(parsed.result, CLI_REFUSED);
  }
}

static void test_help(void **state) {
  (void)state;
  static const char *const words[] = {"-help", "--help", "-on -help -unknown"};
  for (size_t i = 0; i < 3; i++) {
    struct captured captured;
    struct parse parsed = parse(words[i], &captured);
    assert_int_equal(parsed.result, CLI_HELP);
    assert_string_equal(captured.err, "");
    assert_non_null(strstr(captured.out, "folio test [FLAGS] FILE...\n"));
    assert_non_null(strstr(captured.out, "  -number N\n        a number (default 5)\n"));
    assert_non_null(strstr(captured.out, "  -on\n        a switch (default false)\n"));
    assert_non_null(strstr(captured.out, "Example: folio test -on x\n"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_help),
  };
  return cmocka_run_group_tests_name("cli_flags", tests, NULL, NULL);
}
