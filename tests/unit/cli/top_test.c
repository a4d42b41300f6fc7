#include "cli/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "captured.h"
#include "pprof/builder.h"

/* A folder with the profiles that the tests read. */
static char folder[] = "/tmp/cli-top-XXXXXX";

static void profile_path(const char *name, char out[128]) {
  snprintf(out, 128, "%s/%s", folder, name);
}

static void write_bytes(const char *name, const void *bytes, size_t size) {
  char path[128];
  profile_path(name, path);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

static void finish(struct pprof_builder *builder, const char *name) {
  void *bytes;
  size_t size;
  assert_int_equal(pprof_builder_finish(builder, &bytes, &size), 0);
  write_bytes(name, bytes, size);
  free(bytes);
}

static void add_stack(struct pprof_builder *builder, const char *const *names, size_t depth,
                      const int64_t *values) {
  uint64_t locations[4];
  for (size_t i = 0; i < depth; i++) {
    struct pprof_line line = {names[i], names[i], "a.c", 2, 1};
    locations[i] = pprof_builder_location(builder, 0, (uint64_t)names[i][0], &line, 1);
  }
  pprof_builder_sample(builder, locations, depth, values, NULL, 0);
}

static void write_cpu(const char *name, int64_t time_ns) {
  static const struct pprof_value_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
  struct pprof_builder *builder = pprof_builder_create(&(struct pprof_header){
      .sample_types = types,
      .sample_type_count = 2,
      .period_type = types[1],
      .period = 10000000,
      .time_ns = time_ns,
      .duration_ns = 10000000000,
  });
  const char *const deep[] = {"regexec", "match_v1_count", "main"};
  add_stack(builder, deep, 3, (int64_t[]){75, 750000000});
  add_stack(builder, deep + 1, 2, (int64_t[]){25, 250000000});
  pprof_builder_comment(builder, "lost: nothing");
  pprof_builder_comment(builder, "\x1b[2Jtitle");
  finish(builder, name);
}

static void write_heap(const char *name) {
  static const struct pprof_value_type types[] = {{"alloc_space", "bytes"},
                                                  {"inuse_space", "bytes"}};
  struct pprof_builder *builder = pprof_builder_create(&(struct pprof_header){
      .sample_types = types, .sample_type_count = 2, .default_sample_type = "alloc_space"});
  add_stack(builder, (const char *const[]){"a\x1b]0;x\x07"}, 1, (int64_t[]){1572864, 0});
  finish(builder, name);
}

static int folder_setup(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL)
    return -1;
  write_cpu("cpu", 1700000000000000000);
  write_cpu("earlier", 1600000000000000000);
  write_heap("heap");
  write_bytes("bad", "<html>", 6);
  return 0;
}

static int folder_teardown(void **state) {
  (void)state;
  static const char *const names[] = {"cpu", "earlier", "heap", "bad"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    char path[128];
    profile_path(names[i], path);
    unlink(path);
  }
  return rmdir(folder);
}

struct arguments {
  char *argv[10];
  int argc;
};

static int run_cli(void *argument) {
  struct arguments *arguments = argument;
  return cli_main(arguments->argc, arguments->argv);
}

/* Runs `folio` with words separated by spaces; a word that begins with @ is a file. */
static void run(const char *words, struct captured *captured) {
  static char texts[10][128];
  struct arguments arguments = {.argv = {(char[]){"folio"}}, .argc = 1};
  while (*words != '\0') {
    char *text = texts[arguments.argc];
    size_t length = strcspn(words, " ");
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)length, words);
    if (word[0] == '@')
      profile_path(word + 1, text);
    else
      memccpy(text, word, '\0', sizeof(word));
    arguments.argv[arguments.argc++] = text;
    words += length;
    words += *words == ' ';
  }
  capture(run_cli, &arguments, captured);
}

static void test_table(void **state) {
  (void)state;
  struct captured captured;
  run("top @cpu", &captured);
  assert_string_equal(captured.err, "");
  assert_string_equal(captured.out, "Type: cpu\n"
                                    "Time: 2023-11-14 22:13:20 UTC\n"
                                    "Duration: 10.00s\n"
                                    "Total: 1.00s in 2 samples\n"
                                    "\n"
                                    "        flat   flat %          cum    cum %  name\n"
                                    "    750.00ms   75.00%     750.00ms   75.00%  regexec\n"
                                    "    250.00ms   25.00%        1.00s  100.00%  match_v1_count\n"
                                    "         0ns    0.00%        1.00s  100.00%  main\n"
                                    "\n"
                                    "Comments:\n"
                                    "  lost: nothing\n"
                                    "  ?[2Jtitle\n");
  assert_int_equal(captured.status, 0);
}

static void test_flags(void **state) {
  (void)state;
  struct captured captured;
  run("top -sample_type samples -cum -n 1 @cpu", &captured);
  assert_string_equal(captured.err, "");
  assert_non_null(strstr(captured.out, "Type: samples\n"));
  assert_non_null(strstr(captured.out, "Total: 100 in 2 samples\n"));
  assert_non_null(strstr(captured.out, "          25   25.00%          100  100.00%  "
                                       "match_v1_count\n... and 2 more: -n 0 shows all\n"));
  assert_int_equal(captured.status, 0);
}

static void test_default_type_and_hostile_names(void **state) {
  (void)state;
  struct captured captured;
  run("top @heap", &captured);
  assert_string_equal(captured.out, "Type: alloc_space\n"
                                    "Total: 1.50MiB in 1 sample\n"
                                    "\n"
                                    "        flat   flat %          cum    cum %  name\n"
                                    "     1.50MiB  100.00%      1.50MiB  100.00%  a?]0;x?\n");
  run("top -sample_type=inuse_space @heap", &captured);
  assert_string_equal(captured.out, "Type: inuse_space\n"
                                    "Total: 0B in 1 sample\n"
                                    "\n"
                                    "No sample has a value of this type.\n");
  assert_int_equal(captured.status, 0);
}

static void test_files_add_up(void **state) {
  (void)state;
  struct captured captured;
  run("top @cpu @earlier", &captured);
  assert_string_equal(captured.err, "");
  assert_non_null(strstr(captured.out, "Time: 2020-09-13 12:26:40 UTC\n"
                                       "Duration: 20.00s\n"
                                       "Total: 2.00s in 4 samples\n"));
  assert_non_null(strstr(captured.out, "       1.50s   75.00%        1.50s   75.00%  regexec\n"));
  assert_non_null(strstr(captured.out, "Comments:\n  lost: nothing\n  ?[2Jtitle\n"));
}

static void test_json(void **state) {
  (void)state;
  struct captured captured;
  run("top -json -n 2 @cpu", &captured);
  assert_string_equal(captured.err, "");
  assert_string_equal(
      captured.out,
      "{\"sample_type\":\"cpu\",\"unit\":\"nanoseconds\",\"total\":1000000000,\"samples\":2,"
      "\"time_ns\":1700000000000000000,\"duration_ns\":10000000000,\"function_count\":3,"
      "\"functions\":[{\"name\":\"regexec\",\"file\":\"a.c\",\"flat\":750000000,"
      "\"flat_percent\":75.0,\"cum\":750000000,\"cum_percent\":75.0},"
      "{\"name\":\"match_v1_count\",\"file\":\"a.c\",\"flat\":250000000,\"flat_percent\":25.0,"
      "\"cum\":1000000000,\"cum_percent\":100.0}],"
      "\"comments\":[\"lost: nothing\",\"\\u001B[2Jtitle\"]}\n");
  json_t *object = json_loads(captured.out, 0, NULL);
  assert_non_null(object);
  json_decref(object);
}

static void assert_refused(const char *words, int status, const char *message) {
  struct captured captured;
  char expected[256];
  run(words, &captured);
  /* @ stands for the folder. */
  const char *at = strchr(message, '@');
  if (at == NULL) {
    snprintf(expected, sizeof(expected), "%s", message);
  } else {
    snprintf(expected, sizeof(expected), "%.*s%s/%s", (int)(at - message), message, folder, at + 1);
  }
  assert_string_equal(captured.err, expected);
  assert_string_equal(captured.out, "");
  assert_int_equal(captured.status, status);
}

static void test_refusals(void **state) {
  (void)state;
  assert_refused("", 2, "folio: no command given (see folio -help)\n");
  assert_refused("tap", 2, "folio: no command \"tap\" (see folio -help)\n");
  assert_refused("top", 2, "folio top: no file given (see folio top -help)\n");
  assert_refused("top -n x @cpu", 2,
                 "folio top: -n: \"x\" is not a whole number from 0 to 2147483647 "
                 "(see folio top -help)\n");
  assert_refused("top -sample_type heap @cpu", 2,
                 "folio top: -sample_type: @cpu: no sample type \"heap\", only samples, cpu "
                 "(see folio top -help)\n");
  assert_refused("top @bad", 1,
                 "folio top: @bad: not a pprof profile, or a truncated one: no field at byte 0\n");
  assert_refused("top @absent", 1,
                 "folio top: @absent: cannot be opened: No such file or directory\n");
  assert_refused("top @cpu @heap", 1,
                 "folio top: @heap: no sample type \"cpu\", only alloc_space, inuse_space\n");
}

static void test_help(void **state) {
  (void)state;
  struct captured captured;
  run("-help", &captured);
  assert_int_equal(captured.status, 0);
  assert_non_null(strstr(captured.out, "  top "));
  run("--help", &captured);
  assert_int_equal(captured.status, 0);
  run("top -help", &captured);
  assert_int_equal(captured.status, 0);
  assert_non_null(strstr(captured.out, "  -sample_type NAME\n"));
  assert_string_equal(captured.err, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_flags),
      cmocka_unit_test(test_default_type_and_hostile_names),
      cmocka_unit_test(test_files_add_up),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_help),
  };
  return cmocka_run_group_tests_name("cli_top", tests, folder_setup, folder_teardown);
}
