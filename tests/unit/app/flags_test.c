#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/flags.h"
#include "flags_table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_WORDS 6

/* A command line, its program's name left out. */
struct words {
  const char *items[MAX_WORDS + 1];
};

static int parse(enum program program, const struct words *words, struct flags *out,
                 struct app_error *error) {
  char *argv[MAX_WORDS + 2] = {(char *)(uintptr_t) "program"};
  int argc = 1;
  for (const char *const *word = words->items; *word != NULL; word++)
    argv[argc++] = (char *)(uintptr_t)*word;
  return flags_parse(program, argc, argv, out, error);
}

static struct flags parse_well(enum program program, const struct words *words) {
  struct flags flags;
  struct app_error error;
  if (parse(program, words, &flags, &error) != 0)
    fail_msg("%s", error.message);
  return flags;
}

static void test_defaults(void **state) {
  (void)state;
  struct flags app = parse_well(PROGRAM_APP, &(struct words){{NULL}});
  assert_int_equal(app.program, PROGRAM_APP);
  assert_int_equal(app.help, FLAGS_HELP_NONE);
  assert_int_equal(app.version->number, 1);
  assert_int_equal(app.num_rounds, 0);
  assert_int_equal(app.duration_ns, 0);
  assert_int_equal(app.num_requests, 20);
  assert_int_equal(app.concurrency, 1);
  assert_int_equal(app.timeout_ns, 0);
  assert_int_equal(app.seed, 0);
  assert_false(app.keep_going);
  assert_null(app.target);
  assert_string_equal(app.queries, "");
  assert_string_equal(app.json, "");
  assert_string_equal(app.listen, "127.0.0.1");
  assert_int_equal(app.port, 7788);
  assert_string_equal(app.corpus, "");
  assert_int_equal(app.max_in_flight, 1024);
  assert_int_equal(app.max_request_bytes, 65536);
  assert_int_equal(app.queue_threads, 1);
  assert_int_equal(app.worker_threads, 0);
  assert_int_equal(app.drain_timeout_ns, INT64_C(10000000000));
}

static void test_defaults_of_the_client(void **state) {
  (void)state;
  struct flags client = parse_well(PROGRAM_CLIENT, &(struct words){{NULL}});
  assert_string_equal(client.target, "127.0.0.1:7788");
  assert_int_equal(client.num_requests, 20);
  assert_null(client.version);
  assert_null(client.listen);
}

static void test_forms_of_a_value(void **state) {
  (void)state;
  static const struct words forms[] = {
      {{"-port", "5"}}, {{"--port", "5"}},   {{"-port=5"}},
      {{"--port=5"}},   {{"-port=5", "--"}}, {{"-port", "9", "-port", "5"}},
  };
  for (size_t i = 0; i < COUNT(forms); i++)
    assert_int_equal(parse_well(PROGRAM_SERVER, &forms[i]).port, 5);
}

static void test_forms_of_a_switch(void **state) {
  (void)state;
  static const struct {
    struct words words;
    bool value;
  } forms[] = {
      {{{"-keep_going"}}, true},         {{{"--keep_going"}}, true},
      {{{"-keep_going=true"}}, true},    {{{"-keep_going=on"}}, true},
      {{{"--keep_going=false"}}, false}, {{{"-keep_going", "-keep_going=off"}}, false},
  };
  for (size_t i = 0; i < COUNT(forms); i++)
    assert_int_equal(parse_well(PROGRAM_CLIENT, &forms[i].words).keep_going, forms[i].value);
}

static void test_values(void **state) {
  (void)state;
  struct flags flags =
      parse_well(PROGRAM_APP, &(struct words){{"-duration", "1m30s", "-seed=9223372036854775807",
                                               "-json=a b", "-version", "4"}});
  assert_int_equal(flags.duration_ns, INT64_C(90000000000));
  assert_int_equal(flags.seed, INT64_MAX);
  assert_string_equal(flags.json, "a b");
  assert_int_equal(flags.version->number, 4);
}

static void test_words_for_zero(void **state) {
  (void)state;
  struct flags flags =
      parse_well(PROGRAM_APP, &(struct words){{"-seed=7", "-seed=random", "-worker_threads=auto",
                                               "-timeout=1s", "-timeout=none", "-duration=0s"}});
  assert_int_equal(flags.seed, 0);
  assert_int_equal(flags.worker_threads, 0);
  assert_int_equal(flags.timeout_ns, 0);
  assert_int_equal(flags.duration_ns, 0);
}

static void test_help(void **state) {
  (void)state;
  static const struct {
    struct words words;
    enum flags_help help;
  } cases[] = {
      {{{"-help"}}, FLAGS_HELP_TEXT},
      {{{"--help"}}, FLAGS_HELP_TEXT},
      {{{"-port=1", "-help", "-port=x", "stray"}}, FLAGS_HELP_TEXT},
      {{{"-help=markdown"}}, FLAGS_HELP_MARKDOWN},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_int_equal(parse_well(PROGRAM_APP, &cases[i].words).help, cases[i].help);
}

static void test_what_asks_nothing_of_the_profiler_passes(void **state) {
  (void)state;
  static const struct words cases[] = {
      {{"-http", ""}},
      {{"-http="}},
      {{"-heap=false", "-wait=off"}},
      {{"-label_query", "-label_query=on"}},
      {{"-service", "shakesapp"}},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_int_equal(parse_well(PROGRAM_APP, &cases[i]).port, 7788);
}

#define SEE_APP " (see shakesapp -help)"
#define NOT_BUILT "the profiler that it belongs to is not built yet; leave it out"
#define NOT_DURATION "is not a duration of 0 or more, such as 90s, 1m30s or 500ms"

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    struct words words;
    const char *message;
  } cases[] = {
      {{{"-no"}}, "shakesapp: unknown flag -no" SEE_APP},
      {{{"--no=x"}}, "shakesapp: unknown flag -no" SEE_APP},
      {{{"-target", "x"}}, "shakesapp: unknown flag -target" SEE_APP},
      {{{"-"}},
       "shakesapp: \"-\" is no flag; flags are given as -name value or -name=value" SEE_APP},
      {{{"-=5"}}, "shakesapp: unknown flag -" SEE_APP},
      {{{"-x"}}, "shakesapp: unknown flag -x" SEE_APP},
      {{{"-:"}}, "shakesapp: unknown flag -:" SEE_APP},
      {{{"-num_ro", "1"}}, "shakesapp: unknown flag -num_ro; write it out: -num_rounds" SEE_APP},
      {{{"-num_r"}},
       "shakesapp: unknown flag -num_r; write it out: -num_rounds or -num_requests" SEE_APP},
      {{{"-port"}}, "shakesapp: -port: its value is missing" SEE_APP},
      {{{"-port="}}, "shakesapp: -port: \"\" is not a whole number from 0 to 65535" SEE_APP},
      {{{"-port", "65536"}},
       "shakesapp: -port: \"65536\" is not a whole number from 0 to 65535" SEE_APP},
      {{{"-port", "-1"}}, "shakesapp: -port: \"-1\" is not a whole number from 0 to 65535" SEE_APP},
      {{{"-port", " 1"}}, "shakesapp: -port: \" 1\" is not a whole number from 0 to 65535" SEE_APP},
      {{{"-port", "0x10"}},
       "shakesapp: -port: \"0x10\" is not a whole number from 0 to 65535" SEE_APP},
      {{{"-num_rounds", "x"}},
       "shakesapp: -num_rounds: \"x\" is not a whole number of 0 or more" SEE_APP},
      {{{"-num_rounds", "9223372036854775808"}},
       "shakesapp: -num_rounds: \"9223372036854775808\" is not a whole number of 0 or "
       "more" SEE_APP},
      {{{"-num_requests", "0"}},
       "shakesapp: -num_requests: \"0\" is not a whole number of 1 or more" SEE_APP},
      {{{"-concurrency", "100001"}},
       "shakesapp: -concurrency: \"100001\" is not a whole number from 1 to 100000" SEE_APP},
      {{{"-seed", "0"}},
       "shakesapp: -seed: \"0\" is not a whole number of 1 or more or \"random\"" SEE_APP},
      {{{"-duration", "5"}}, "shakesapp: -duration: \"5\" " NOT_DURATION SEE_APP},
      {{{"-timeout", "-5s"}}, "shakesapp: -timeout: \"-5s\" " NOT_DURATION SEE_APP},
      {{{"-drain_timeout", "none"}}, "shakesapp: -drain_timeout: \"none\" " NOT_DURATION SEE_APP},
      {{{"-keep_going=1"}}, "shakesapp: -keep_going: \"1\" is neither true nor false" SEE_APP},
      {{{"-keep_going", "false"}},
       "shakesapp: \"false\" is no flag; flags are given as -name value or -name=value" SEE_APP},
      {{{"-listen", ""}}, "shakesapp: -listen: it must not be empty" SEE_APP},
      {{{"-help=html"}},
       "shakesapp: -help: \"html\" is no form of it: leave it out or say markdown" SEE_APP},
      {{{"two\nlines"}},
       "shakesapp: \"two?lines\" is no flag; flags are given as -name value or "
       "-name=value" SEE_APP},
      {{{"-thread"}}, "shakesapp: -thread: " NOT_BUILT SEE_APP},
      {{{"-contention=true"}}, "shakesapp: -contention: " NOT_BUILT SEE_APP},
      {{{"-project_id", "x"}}, "shakesapp: -project_id: " NOT_BUILT SEE_APP},
      {{{"-wait"}}, "shakesapp: -wait: " NOT_BUILT SEE_APP},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct flags flags = {.port = -7};
    struct app_error error = {"no error"};
    assert_int_equal(parse(PROGRAM_APP, &cases[i].words, &flags, &error), -1);
    assert_string_equal(error.message, cases[i].message);
    assert_int_equal(flags.port, -7);
  }
}

static void test_unknown_version_names_those_that_exist(void **state) {
  (void)state;
  static const char *const numbers[] = {"0", "99", "x", "-1", "4294967297"};
  for (size_t i = 0; i < COUNT(numbers); i++) {
    struct flags flags;
    struct app_error error = {"no error"};
    char expected[64];
    snprintf(expected, sizeof(expected), "-version: there is no version \"%s\", only 1, 2, 3, 4",
             numbers[i]);
    assert_int_equal(parse(PROGRAM_APP, &(struct words){{"-version", numbers[i]}}, &flags, &error),
                     -1);
    if (strstr(error.message, expected) == NULL)
      fail_msg("\"%s\" does not contain \"%s\"", error.message, expected);
  }
}

/* Returned owned. */
static char *help(enum program program, enum flags_help form) {
  char *text = NULL;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  assert_non_null(stream);
  flags_print_help(&(struct flags){.program = program, .help = form}, stream);
  fclose(stream);
  return text;
}

/* Each program's help names its own flags with their defaults, and no others. */
static void test_help_is_complete(void **state) {
  (void)state;
  for (int program = 0; program < PROGRAM_COUNT; program++) {
    char *text = help((enum program)program, FLAGS_HELP_TEXT);
    char *markdown = help((enum program)program, FLAGS_HELP_MARKDOWN);
    for (size_t i = 0; i < flags_table_count; i++) {
      const struct flag *flag = &flags_table[i];
      const char *value = flag->placeholder != NULL ? flag->placeholder : "";
      const char *space = flag->placeholder != NULL ? " " : "";
      char heading[128];
      char row[128];
      snprintf(heading, sizeof(heading), "\n  -%s%s%s\n", flag->name, space, value);
      snprintf(row, sizeof(row), "\n| `-%s%s%s` | ", flag->name, space, value);
      bool belongs = flag_belongs_to(flag, (enum program)program);
      if ((strstr(text, heading) != NULL) != belongs || (strstr(markdown, row) != NULL) != belongs)
        fail_msg("-%s is wrongly there or missing in:\n%s\n%s", flag->name, text, markdown);
    }
    free(text);
    free(markdown);
  }
}

static void test_help_fits_a_terminal(void **state) {
  (void)state;
  for (int program = 0; program < PROGRAM_COUNT; program++) {
    char *text = help((enum program)program, FLAGS_HELP_TEXT);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
      assert_in_range(strcspn(line, "\n"), 0, 80);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_defaults_of_the_client),
      cmocka_unit_test(test_forms_of_a_value),
      cmocka_unit_test(test_forms_of_a_switch),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_words_for_zero),
      cmocka_unit_test(test_help),
      cmocka_unit_test(test_what_asks_nothing_of_the_profiler_passes),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_unknown_version_names_those_that_exist),
      cmocka_unit_test(test_help_is_complete),
      cmocka_unit_test(test_help_fits_a_terminal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
