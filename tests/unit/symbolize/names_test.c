#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

/* Fixtures are looked up as if mapped here. */
#define BIAS ((uintptr_t)0x7f0000000000)

struct fixture {
  const char *name;   /* the file that is looked up */
  const char *labels; /* the file with the addresses of the marks; NULL: the same */
};

static void fixture_path(const char *name, char out[512]) {
  snprintf(out, 512, "%s/%s", FIXTURES, name);
}

static const struct symbol *find(struct symbolizer *symbolizer, const char *path,
                                 uintptr_t address) {
  struct symbol_object object = {.number = 1, .path = path, .build_id = "", .bias = BIAS};
  return symbolizer_find(symbolizer, &object, BIAS + address);
}

/* Looks up the mark in the fixture; the symbolizer must be destroyed. */
static struct symbolizer *find_mark(const struct fixture *fixture, const char *mark,
                                    const struct symbol **out) {
  char path[512];
  char labels[512];
  fixture_path(fixture->name, path);
  fixture_path(fixture->labels != NULL ? fixture->labels : fixture->name, labels);
  struct symbolizer *symbolizer = symbolizer_create(0);
  assert_non_null(symbolizer);
  *out = find(symbolizer, path, fixture_symbol(labels, mark).start);
  return symbolizer;
}

static void assert_mark(const struct fixture *fixture, const char *source, const char *mark,
                        const struct expected_frame *frames, size_t count) {
  const struct symbol *symbol;
  print_message("%s %s\n", fixture->name, mark);
  struct symbolizer *symbolizer = find_mark(fixture, mark, &symbol);
  assert_frames(symbol, source, frames, count);
  symbolizer_destroy(symbolizer);
}

/* With debug data, in every form in which they come. */
static const struct fixture with_debug[] = {
    {"shapes", NULL},
    {"shapes_no_pie", NULL},
    {"shapes_dwarf4", NULL},
    {"shapes_split", NULL},
    {"shapes_split4", NULL},
    {"shapes_compressed", NULL},
    {"shapes_lto", NULL},
    {"shapes_sections", NULL},
    {"shapes_no_build_id", NULL},
    {"libshapes.so.1", NULL},
    {"shapes_linked", "shapes"},
    {"shapes_linked_by_sum", "shapes_no_build_id"},
#ifdef HAVE_CLANG_FIXTURES
    {"shapes_clang", NULL},
#endif
};

static const struct fixture boxes_with_debug[] = {
    {"boxes", NULL},
#ifdef HAVE_DWZ_FIXTURES
    {"boxes_dwz", NULL},
#endif
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_inlined_functions(void **state) {
  (void)state;
  static const struct expected_frame frames[] = {
      {"innermost", "innermost", "MARK(mark_innermost)", "int innermost("},
      {"middle", "middle", "return innermost(", "int middle("},
      {"outer", "outer", "return middle(", "int outer(int x) {"},
  };
  for (size_t i = 0; i < COUNT(with_debug); i++)
    assert_mark(&with_debug[i], "shapes.c", "mark_innermost", frames, COUNT(frames));
}

static void test_functions(void **state) {
  (void)state;
  static const struct expected_frame outer[] = {
      {"outer", "outer", "MARK(mark_outer)", "int outer(int x) {"}};
  static const struct expected_frame file_local[] = {
      {"file_local", "file_local", "MARK(mark_file_local)", "int file_local("}};
  for (size_t i = 0; i < COUNT(with_debug); i++) {
    assert_mark(&with_debug[i], "shapes.c", "mark_outer", outer, 1);
    assert_mark(&with_debug[i], "shapes.c", "mark_file_local", file_local, 1);
  }
}

static void test_public_name(void **state) {
  (void)state;
  static const struct expected_frame frames[] = {
      {"shared", "__shapes_shared", "MARK(mark_shared)", "int __shapes_shared(int x) {"}};
  const struct fixture fixture = {"libshapes.so.1", NULL};
  assert_mark(&fixture, "shapes.c", "mark_shared", frames, 1);
}

/* The return address of a last call is another function's; one byte back it is the call. */
static void test_last_call(void **state) {
  (void)state;
  static const struct expected_frame frames[] = {
      {"last_call", "last_call", "  stop_now(x);", "void last_call(int x) {"}};
  char path[512];
  fixture_path("shapes", path);
  struct symbolizer *symbolizer = symbolizer_create(0);
  struct fixture_symbol caller = fixture_symbol(path, "last_call");
  assert_frames(find(symbolizer, path, caller.end - 1), "shapes.c", frames, 1);
  assert_string_not_equal(find(symbolizer, path, caller.end)->lines[0].name, "last_call");
  symbolizer_destroy(symbolizer);
}

/* What has no debug data is not taken for a function that the linker left out. */
static void test_left_out_functions(void **state) {
  (void)state;
  char path[512];
  fixture_path("shapes_sections", path);
  struct symbolizer *symbolizer = symbolizer_create(0);
  struct fixture_symbol start = fixture_symbol(path, "_start");
  assert_in_range(start.start, 1, 16383);
  assert_string_equal(find(symbolizer, path, start.start + 1)->lines[0].name, "_start");
  symbolizer_destroy(symbolizer);
}

static void test_symbol_table_only(void **state) {
  (void)state;
  static const struct expected_frame outer[] = {{"outer", "outer", NULL, NULL}};
  static const struct expected_frame file_local[] = {{"file_local", "file_local", NULL, NULL}};
  static const struct expected_frame shared[] = {{"shared", "shared", NULL, NULL}};
  const struct fixture no_debug = {"shapes_no_debug", NULL};
  assert_mark(&no_debug, "shapes.c", "mark_innermost", outer, 1);
  /* The label inside of outer() does not reach past its end. */
  char path[512];
  fixture_path("shapes_no_debug", path);
  uintptr_t end = fixture_symbol(path, "outer").end;
  struct symbolizer *symbolizer = symbolizer_create(0);
  assert_int_not_equal(end % 16, 0);
  assert_unknown(find(symbolizer, path, end), "[shapes_no_debug]");
  symbolizer_destroy(symbolizer);
  assert_mark(&no_debug, "shapes.c", "mark_file_local", file_local, 1);
  assert_mark(&no_debug, "shapes.c", "mark_shared", shared, 1);
}

static void test_versions_are_no_part_of_names(void **state) {
  (void)state;
  static const struct expected_frame named[] = {{"named", "named", NULL, NULL}};
  const struct fixture fixture = {"libversioned.so", NULL};
  assert_mark(&fixture, "versioned.c", "mark_versioned", named, 1);
}

static void test_exported_symbols_only(void **state) {
  (void)state;
  static const struct expected_frame outer[] = {{"outer", "outer", NULL, NULL}};
  const struct fixture stripped = {"libshapes_stripped.so.1", "libshapes.so.1"};
  const struct symbol *symbol;
  assert_mark(&stripped, "shapes.c", "mark_outer", outer, 1);
  struct symbolizer *symbolizer = find_mark(&stripped, "mark_file_local", &symbol);
  assert_unknown(symbol, "[libshapes_stripped.so.1]");
  symbolizer_destroy(symbolizer);
}

static void test_no_symbols(void **state) {
  (void)state;
  const struct fixture stripped = {"shapes_stripped", "shapes"};
  const struct symbol *symbol;
  struct symbolizer *symbolizer = find_mark(&stripped, "mark_outer", &symbol);
  assert_unknown(symbol, "[shapes_stripped]");
  symbolizer_destroy(symbolizer);
}

static void test_cxx_functions(void **state) {
  (void)state;
  static const struct {
    const char *mark;
    struct expected_frame frame;
  } cases[] = {
      {"mark_template",
       {"geometry::Box<int>::area(int)", "_ZN8geometry3BoxIiE4areaEi", "MARK(mark_template)",
        "T area("}},
      {"mark_method",
       {"geometry::Counter::next()", "_ZN8geometry7Counter4nextEv", "MARK(mark_method)",
        "int Counter::next()"}},
      {"mark_anonymous",
       {"geometry::(anonymous namespace)::hidden", "_ZN8geometry12_GLOBAL__N_16hiddenEi",
        "MARK(mark_anonymous)", "int hidden("}},
      {"mark_static",
       {"geometry::local", "_ZN8geometryL5localEi", "MARK(mark_static)", "int local("}},
      {"mark_lambda",
       {"geometry::Counter::next::{lambda}::operator()", NULL, "MARK(mark_lambda)", "auto add = "}},
      {"mark_extern_c", {"c_entry", "c_entry", "MARK(mark_extern_c)", "int c_entry("}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    for (size_t j = 0; j < COUNT(boxes_with_debug); j++)
      assert_mark(&boxes_with_debug[j], "boxes.cc", cases[i].mark, &cases[i].frame, 1);
  }
}

static void test_cxx_inlined(void **state) {
  (void)state;
  static const struct expected_frame frames[] = {
      {"geometry::(anonymous namespace)::hidden_inline", NULL, "MARK(mark_anonymous_inline)",
       "int hidden_inline("},
      {"geometry::Counter::next()", "_ZN8geometry7Counter4nextEv", "return add(2)",
       "int Counter::next()"},
  };
  for (size_t i = 0; i < COUNT(boxes_with_debug); i++)
    assert_mark(&boxes_with_debug[i], "boxes.cc", "mark_anonymous_inline", frames, COUNT(frames));
}

static void test_cxx_symbol_table_only(void **state) {
  (void)state;
  static const struct expected_frame area[] = {
      {"geometry::Box<int>::area(int)", "_ZN8geometry3BoxIiE4areaEi", NULL, NULL}};
  static const struct expected_frame local[] = {
      {"geometry::local(int)", "_ZN8geometryL5localEi", NULL, NULL}};
  const struct fixture no_debug = {"boxes_no_debug", NULL};
  assert_mark(&no_debug, "boxes.cc", "mark_template", area, 1);
  assert_mark(&no_debug, "boxes.cc", "mark_static", local, 1);
}

#ifdef HAVE_CLANG_FIXTURES
/* Clang gives every function a mangled name. */
static void test_cxx_of_clang(void **state) {
  (void)state;
  static const struct {
    const char *mark;
    struct expected_frame frame;
  } cases[] = {
      {"mark_template",
       {"geometry::Box<int>::area(int)", "_ZN8geometry3BoxIiE4areaEi", "MARK(mark_template)",
        "T area("}},
      {"mark_static",
       {"geometry::local(int)", "_ZN8geometryL5localEi", "MARK(mark_static)", "int local("}},
      {"mark_lambda",
       {"geometry::Counter::next()::$_0::operator()(int) const", NULL, "MARK(mark_lambda)",
        "auto add = "}},
  };
  const struct fixture boxes = {"boxes_clang", NULL};
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_mark(&boxes, "boxes.cc", cases[i].mark, &cases[i].frame, 1);
}
#endif

/* Labels of assembly have no size: they reach to the next symbol. */
static void test_assembly(void **state) {
  (void)state;
  static const struct expected_frame sized[] = {{"sized_function", "sized_function", NULL, NULL}};
  static const struct expected_frame bare[] = {{"bare_label", "bare_label", NULL, NULL}};
  static const struct expected_frame second[] = {{"second_label", "second_label", NULL, NULL}};
  char path[512];
  fixture_path("labels", path);
  struct symbolizer *symbolizer = symbolizer_create(0);
  struct fixture_symbol function = fixture_symbol(path, "sized_function");
  uintptr_t label = fixture_symbol(path, "bare_label").start;
  assert_frames(find(symbolizer, path, function.end - 1), "labels.S", sized, 1);
  assert_unknown(find(symbolizer, path, function.end), "[labels]");
  assert_unknown(find(symbolizer, path, label - 1), "[labels]");
  assert_frames(find(symbolizer, path, label), "labels.S", bare, 1);
  assert_frames(find(symbolizer, path, label + 1), "labels.S", bare, 1);
  assert_frames(find(symbolizer, path, label + 2), "labels.S", second, 1);
  assert_frames(find(symbolizer, path, label + 3), "labels.S", second, 1);
  symbolizer_destroy(symbolizer);
}

static void test_assembly_with_lines(void **state) {
  (void)state;
  static const struct expected_frame sized[] = {
      {"sized_function", "sized_function", "ret", "        nop"}};
  static const struct expected_frame bare[] = {
      {"bare_label", "bare_label", "bare_label:", "bare_label:"}};
  char path[512];
  fixture_path("labels_debug", path);
  struct symbolizer *symbolizer = symbolizer_create(0);
  struct fixture_symbol function = fixture_symbol(path, "sized_function");
  assert_frames(find(symbolizer, path, function.start + 1), "labels.S", sized, 1);
  const struct symbol *label = find(symbolizer, path, fixture_symbol(path, "bare_label").start + 1);
  assert_string_equal(label->lines[0].name, bare[0].name);
  assert_int_equal(label->lines[0].line, fixture_line("labels.S", "bare_label:") + 2);
  assert_int_equal(label->lines[0].start_line, fixture_line("labels.S", "bare_label:") + 1);
  symbolizer_destroy(symbolizer);
}

/* Addresses in no section, between functions, and beyond everything. */
static void test_addresses_of_nothing(void **state) {
  (void)state;
  char path[512];
  fixture_path("shapes", path);
  struct symbolizer *symbolizer = symbolizer_create(0);
  assert_unknown(find(symbolizer, path, 0), "[shapes]");
  assert_unknown(find(symbolizer, path, 0x10000000), "[shapes]");
  assert_unknown(find(symbolizer, path, UINTPTR_MAX - BIAS), "[shapes]");
  assert_unknown(find(symbolizer, path, (uintptr_t)0 - BIAS), "[shapes]");
  symbolizer_destroy(symbolizer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inlined_functions),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_public_name),
      cmocka_unit_test(test_last_call),
      cmocka_unit_test(test_left_out_functions),
      cmocka_unit_test(test_symbol_table_only),
      cmocka_unit_test(test_versions_are_no_part_of_names),
      cmocka_unit_test(test_exported_symbols_only),
      cmocka_unit_test(test_no_symbols),
      cmocka_unit_test(test_cxx_functions),
      cmocka_unit_test(test_cxx_inlined),
      cmocka_unit_test(test_cxx_symbol_table_only),
#ifdef HAVE_CLANG_FIXTURES
      cmocka_unit_test(test_cxx_of_clang),
#endif
      cmocka_unit_test(test_assembly),
      cmocka_unit_test(test_assembly_with_lines),
      cmocka_unit_test(test_addresses_of_nothing),
  };
  return cmocka_run_group_tests_name("symbolize_names", tests, NULL, NULL);
}
