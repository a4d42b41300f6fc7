/* Sections written by hand become the rules that they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_table.h"
#include "section.h"

enum {
  CODE_BYTES = 0x2000
};
#define CODE ((uintptr_t)0x400000)

static struct section section;

static size_t begin(void) {
  section.size = 0;
  return section_add_usual_cie(&section);
}

static struct code_table *compile_frames(const struct eh_frame *frames) {
  struct code_table_builder builder = {0};
  struct code_table *table;
  assert_int_equal(code_table_build(&builder, frames, CODE, CODE + CODE_BYTES, &table), 0);
  code_table_builder_free(&builder);
  return table;
}

static struct code_table *compile(void) {
  struct eh_frame frames = section_frames(&section);
  return compile_frames(&frames);
}

struct expected {
  uint32_t offset;
  packed_rule rule;
};

static packed_rule sp(uint32_t offset, uint32_t fp_depth, uint32_t bx_depth) {
  return rule_pack(RULE_SP, offset / 8, fp_depth / 8, bx_depth / 8);
}

/* The rows are these and no others. */
static void assert_rows(const struct expected *expected, size_t count) {
  struct code_table *table = compile();
  assert_non_null(table);
  for (size_t i = 0; i < count && i < table->row_count; i++)
    if (table->rows[i].offset != expected[i].offset || table->rows[i].rule != expected[i].rule)
      fail_msg("row %zu: %#x has %#x, not %#x has %#x", i, table->rows[i].offset,
               table->rows[i].rule, expected[i].offset, expected[i].rule);
  assert_int_equal(table->row_count, count);
  code_table_free(table);
}

#define ASSERT_ROWS(...)                                                                           \
  assert_rows((const struct expected[]){__VA_ARGS__},                                              \
              sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

/* push rbp; mov rsp, rbp; push rbx; ...; leave; ret */
static void a_usual_function_has_its_rows(void **state) {
  (void)state;
  section_add_function(
      &section, begin(), CODE + 0x10, 0x40,
      PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x83, 3, 0x5a, 0xc6, 0xc3, 0x0c, 7, 8));
  ASSERT_ROWS({0, RULE_NONE}, {0x10, sp(8, 0, 0)}, {0x11, sp(16, 16, 0)},
              {0x14, rule_pack(RULE_FP, 2, 2, 0)}, {0x15, rule_pack(RULE_FP, 2, 2, 3)},
              {0x2f, sp(8, 0, 0)}, {0x50, RULE_NONE});
}

static void equal_neighbours_are_one_row(void **state) {
  (void)state;
  size_t cie = begin();
  section_add_function(&section, cie, CODE, 0x10, PROGRAM(0x44, 0x8c, 5, 0x44, 0x8d, 6));
  section_add_function(&section, cie, CODE + 0x10, 0x10, PROGRAM(0));
  ASSERT_ROWS({0, sp(8, 0, 0)}, {0x20, RULE_NONE});
}

static void state_is_remembered_and_restored(void **state) {
  (void)state;
  section_add_function(&section, begin(), CODE, 0x40,
                       PROGRAM(0x44, 0x0e, 24, 0x86, 3, 0x0a, 0x44, 0x0e, 32, 0x0a, 0x44, 0xc6,
                               0x44, 0x0b, 0x44, 0x0b));
  ASSERT_ROWS({0, sp(8, 0, 0)}, {4, sp(24, 24, 0)}, {8, sp(32, 24, 0)}, {12, sp(32, 0, 0)},
              {16, sp(32, 24, 0)}, {20, sp(24, 24, 0)}, {0x40, RULE_NONE});
}

static void long_advances_and_operands_are_read(void **state) {
  (void)state;
  section_add_function(&section, begin(), CODE, 0x1000,
                       PROGRAM(0x02, 0x80, 0x0e, 0x80, 0x02, 0x03, 0x00, 0x01, 0x05, 6, 2, 0x04, 0,
                               2, 0, 0, 0x11, 3, 3, 0x41, 0x13, 0x7e, 0x41, 0x2f, 3, 4));
  ASSERT_ROWS({0, sp(8, 0, 0)}, {0x80, sp(256, 0, 0)}, {0x180, sp(256, 16, 0)},
              {0x380, sp(256, 16, 24)}, {0x381, sp(16, 16, 24)}, {0x382, rule_pack_wide(0)},
              {0x1000, RULE_NONE});
}

static void the_outermost_function_ends_the_stack(void **state) {
  (void)state;
  section_add_function(&section, begin(), CODE, 0x10, PROGRAM(0x07, 16, 0x42, 0x06, 16));
  ASSERT_ROWS({0, RULE_END}, {2, sp(8, 0, 0)}, {0x10, RULE_NONE});
}

/* What an instruction that nobody knows means ends with its function. */
static void an_unknown_instruction_loses_the_rest_of_its_function(void **state) {
  (void)state;
  const unsigned char unknown[] = {0x0f, 0x17, 0x1d, 0x2d, 0x30, 0x3f};
  for (size_t i = 1; i < sizeof(unknown); i++) {
    size_t cie = begin();
    section_add_function(&section, cie, CODE, 0x10,
                         PROGRAM(0x44, 0x0e, 16, 0x42, unknown[i], 0x42));
    section_add_function(&section, cie, CODE + 0x20, 0x10, PROGRAM(0));
    ASSERT_ROWS({0, sp(8, 0, 0)}, {4, sp(16, 0, 0)}, {6, RULE_NONE}, {0x20, sp(8, 0, 0)},
                {0x30, RULE_NONE});
  }
}

static void broken_programs_lose_the_rest_of_their_function(void **state) {
  (void)state;
  const struct program broken[] = {
      PROGRAM(0x44, 0x0b),                         /* restores what was not remembered */
      PROGRAM(0x44, 0x0e),                         /* no operand: the padding is none */
      PROGRAM(0x44, 0x04, 0xff, 0xff, 0xff, 0xff), /* advances past the end */
      PROGRAM(0x44, 0x0f, 2, 0x77, 8, 0x0e, 64),   /* an offset for an expression */
      PROGRAM(0x44, 0x0d, 200),                    /* a register that is not */
      PROGRAM(0x44, 0x12, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f), /* overflows */
      PROGRAM(0x44, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
              0x0a, 0x0a, 0x0a, 0x0a), /* remembers too much */
  };
  for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
    section_add_function(&section, begin(), CODE, 0x10, broken[i]);
    struct code_table *table = compile();
    assert_int_equal(code_table_find(table, 3), sp(8, 0, 0));
    if (i != 1) /* a CFA of rsp + 0 is a rule, if an odd one */
      assert_int_equal(code_table_find(table, 8), RULE_NONE);
    assert_int_equal(code_table_find(table, 0x10), RULE_NONE);
    code_table_free(table);
  }
}

static void functions_need_not_be_sorted(void **state) {
  (void)state;
  enum {
    FUNCTIONS = 200
  };
  size_t cie = begin();
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    unsigned place = i * 77 % FUNCTIONS; /* many short runs */
    section_add_function(&section, cie, CODE + place * 16, 16,
                         PROGRAM(0x0e, (unsigned char)(8 + place % 15 * 8)));
  }
  struct code_table *table = compile();
  for (uint32_t offset = 0; offset < FUNCTIONS * 16; offset++)
    assert_int_equal(code_table_find(table, offset), sp(8 + offset / 16 % 15 * 8, 0, 0));
  code_table_free(table);
}

static void overlapping_functions_end_where_the_next_begins(void **state) {
  (void)state;
  size_t cie = begin();
  section_add_function(&section, cie, CODE, 0x100, PROGRAM(0x60, 0x0e, 16));
  section_add_function(&section, cie, CODE + 0x10, 0x10, PROGRAM(0x0e, 24));
  section_add_function(&section, cie, CODE + 0x10, 0x80, PROGRAM(0x0e, 32)); /* there is one */
  section_add_function(&section, cie, CODE + 0x40, 0, PROGRAM(0x0e, 40));    /* empty */
  ASSERT_ROWS({0, sp(8, 0, 0)}, {0x10, sp(24, 0, 0)}, {0x20, RULE_NONE});
}

static void functions_outside_of_the_code_are_left_out(void **state) {
  (void)state;
  size_t cie = begin();
  section_add_function(&section, cie, CODE - 0x10, 0x10, PROGRAM(0));
  section_add_function(&section, cie, CODE + CODE_BYTES, 0x10, PROGRAM(0));
  section_add_function(&section, cie, CODE + CODE_BYTES - 8, 0x10, PROGRAM(0x50, 0x0e, 16));
  ASSERT_ROWS({0, RULE_NONE}, {CODE_BYTES - 8, sp(8, 0, 0)});
}

/* Rules that the short form cannot hold. */
static void odd_rules_are_wide(void **state) {
  (void)state;
  const struct {
    struct program program;
    struct wide_rule rule;
  } cases[] = {
      {PROGRAM(0x0e, 0x80, 0x80, 0x20), /* a frame of 512 KiB */
       {.cfa = {PLACE_REGISTER, DWARF_SP, 0, 0x80000},
        .pc = {PLACE_AT_CFA, 0, 0, -8},
        .sp = {.kind = PLACE_CFA}}},
      {PROGRAM(0x0c, 10, 0), /* in r10 */
       {.cfa = {PLACE_REGISTER, 10, 0, 0},
        .pc = {PLACE_AT_CFA, 0, 0, -8},
        .sp = {.kind = PLACE_CFA}}},
      {PROGRAM(0x0e, 9), /* not of whole words */
       {.cfa = {PLACE_REGISTER, DWARF_SP, 0, 9},
        .pc = {PLACE_AT_CFA, 0, 0, -8},
        .sp = {.kind = PLACE_CFA}}},
      {PROGRAM(0x86, 0x80, 1), /* rbp saved far below: one word more than fits */
       {.cfa = {PLACE_REGISTER, DWARF_SP, 0, 8},
        .pc = {PLACE_AT_CFA, 0, 0, -8},
        .sp = {.kind = PLACE_CFA},
        .fp = {PLACE_AT_CFA, 0, 0, -1024}}},
      {PROGRAM(0x90, 2), /* the return address elsewhere */
       {.cfa = {PLACE_REGISTER, DWARF_SP, 0, 8},
        .pc = {PLACE_AT_CFA, 0, 0, -16},
        .sp = {.kind = PLACE_CFA}}},
      {PROGRAM(0x09, 16, 1, 0x09, 7, 8, 0x07, 3, 0x14, 6, 2), /* longjmp's, and a value */
       {.cfa = {PLACE_REGISTER, DWARF_SP, 0, 8},
        .pc = {PLACE_REGISTER, 1, 0, 0},
        .sp = {PLACE_REGISTER, 8, 0, 0},
        .fp = {PLACE_CFA, 0, 0, -16},
        .bx = {.kind = PLACE_LOST}}},
      {PROGRAM(0x14, 7, 1), /* rsp is not the CFA */
       {.cfa = {PLACE_REGISTER, DWARF_SP, 0, 8},
        .pc = {PLACE_AT_CFA, 0, 0, -8},
        .sp = {PLACE_CFA, 0, 0, -8}}},
      {PROGRAM(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0), /* realigned: [rbp - 8] */
       {.cfa = {PLACE_EXPRESSION, 0, 2, 0},
        .pc = {PLACE_AT_CFA, 0, 0, -8},
        .sp = {.kind = PLACE_CFA},
        .fp = {PLACE_AT_EXPRESSION, 0, 1, 2}}},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    section_add_function(&section, begin(), CODE, 0x10, cases[i].program);
    struct code_table *table = compile();
    packed_rule rule = code_table_find(table, 0);
    assert_int_equal(rule_kind(rule), RULE_WIDE);
    assert_memory_equal(&table->wide[rule_wide_index(rule)], &cases[i].rule, sizeof(cases[i].rule));
    code_table_free(table);
  }
}

static void the_short_form_holds_up_to_its_limits(void **state) {
  (void)state;
  section_add_function(&section, begin(), CODE, 0x10,
                       PROGRAM(0x0e, 0xf8, 0xff, 0x0f, 0x86, 127, 0x83, 127));
  ASSERT_ROWS({0, sp(0x3fff8, 1016, 1016)}, {0x10, RULE_NONE});
}

static void equal_wide_rules_are_kept_once(void **state) {
  (void)state;
  size_t cie = begin();
  for (unsigned i = 0; i < 100; i++)
    section_add_function(&section, cie, CODE + i * 16, 16,
                         PROGRAM(0x0f, 3, 0x76, (unsigned char)(0x78 - i % 3), 0x06));
  struct code_table *table = compile();
  for (uint32_t i = 0; i < 100; i++)
    assert_int_equal(rule_wide_index(code_table_find(table, i * 16)), i % 3);
  code_table_free(table);
}

static void unsupported_expressions_have_no_rule(void **state) {
  (void)state;
  const struct program programs[] = {
      PROGRAM(0x0f, 1, 0x06),                               /* nothing to load from */
      PROGRAM(0x0f, 2, 0x06, 0x31),                         /* the same, and goes on */
      PROGRAM(0x0f, 2, 0x31, 0x22),                         /* adds one word */
      PROGRAM(0x0f, 0),                                     /* empty */
      PROGRAM(0x0f, 5, 0x31, 0x31, 0x31, 0x31, 0x31),       /* too deep */
      PROGRAM(0x0f, 4, 0x31, 0x28, 0, 0),                   /* a branch */
      PROGRAM(0x0f, 6, 0x10, 0x80, 0x80, 0x80, 0x80, 0x10), /* too large a number */
      PROGRAM(0x0f, 2, 0x8f, 0),                            /* r31 */
      PROGRAM(0x0f, 9, 0x03, 0, 0, 0, 0, 0, 0, 0, 0),       /* an address */
  };
  for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
    section_add_function(&section, begin(), CODE, 0x10, PROGRAM(0x44, 0x0e, 16));
    section_add_function(&section, 0, CODE + 0x10, 0x10, programs[i]);
    ASSERT_ROWS({0, sp(8, 0, 0)}, {4, sp(16, 0, 0)}, {0x10, RULE_NONE});
  }
}

static void augmentations_are_read(void **state) {
  (void)state;
  const struct {
    const char *letters;
    struct program data;
    bool understood;
  } cases[] = {
      {"zR", PROGRAM(0x1b), true},
      {"zPLR", PROGRAM(0x9b, 1, 2, 3, 4, 0x1b, 0x1b), true},
      {"zPR", PROGRAM(0x80, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b), true},
      {"zRL", PROGRAM(0x1b, 0xff), true},
      {"zRQ", PROGRAM(0x1b), false},
      {"eh", PROGRAM(0, 0, 0, 0, 0, 0, 0, 0), false},
      {"zRS", PROGRAM(0x1b), false}, /* a signal frame of unknown form */
      {"zLR", PROGRAM(0x1b), false}, /* too short */
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    section.size = 0;
    size_t cie =
        section_add_cie(&section, cases[i].letters, cases[i].data, PROGRAM(0x0c, 7, 8, 0x90, 1));
    section_add_function(&section, cie, CODE, 0x10, PROGRAM(0));
    struct code_table *table = compile();
    packed_rule rule = table == NULL ? RULE_NONE : code_table_find(table, 0);
    assert_int_equal(rule, cases[i].understood ? sp(8, 0, 0) : RULE_NONE);
    code_table_free(table);
  }
}

static void signal_frames_are_known(void **state) {
  (void)state;
  section.size = 0;
  size_t cie =
      section_add_cie(&section, "zRS", PROGRAM(0x1b),
                      PROGRAM(0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 16, 3, 0x77, 0xa8, 0x01));
  section_add_function(&section, cie, CODE, 0x10, PROGRAM(0));
  ASSERT_ROWS({0, RULE_SIGNAL}, {0x10, RULE_NONE});
}

/* The same, with the stack pointer elsewhere. */
static void other_signal_frames_have_no_rule(void **state) {
  (void)state;
  section.size = 0;
  size_t cie =
      section_add_cie(&section, "zRS", PROGRAM(0x1b), PROGRAM(0x0f, 4, 0x77, 0xa8, 0x01, 0x06));
  section_add_function(&section, cie, CODE, 0x10, PROGRAM(0));
  assert_null(compile());
}

/* The byte of the version, and the one of the return address's register. */
static void other_kinds_of_cie_are_refused(void **state) {
  (void)state;
  const struct {
    size_t offset;
    unsigned char good, bad;
  } bytes[] = {{8, 1, 2}, {8, 1, 4}, {14, 16, 30}};
  for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
    size_t cie = begin();
    section_add_function(&section, cie, CODE, 0x10, PROGRAM(0));
    assert_int_equal(section.bytes[cie + bytes[i].offset], bytes[i].good);
    section.bytes[cie + bytes[i].offset] = bytes[i].bad;
    assert_null(compile());
  }
}

/* Its end lies before its start: it is no function, and does not cut the one before. */
static void a_function_that_wraps_round_is_left_out(void **state) {
  (void)state;
  section.size = 0;
  size_t usual = section_add_usual_cie(&section);
  size_t absolute = section_add_cie(&section, "zR", PROGRAM(0x00), PROGRAM(0x0c, 7, 8, 0x90, 1));
  section_add_function(&section, usual, CODE, 0x40, PROGRAM(0));
  const uintptr_t range[2] = {CODE + 0x20, UINTPTR_MAX - 0x10};
  uint32_t head[2] = {4 + sizeof(range) + 4, (uint32_t)(section.size + 4 - absolute)};
  memcpy(section.bytes + section.size, head, sizeof(head));
  memcpy(section.bytes + section.size + sizeof(head), range, sizeof(range));
  memset(section.bytes + section.size + sizeof(head) + sizeof(range), 0, 4);
  section.size += sizeof(head) + sizeof(range) + 4;
  ASSERT_ROWS({0, sp(8, 0, 0)}, {0x40, RULE_NONE});
}

static void the_section_ends_where_it_says(void **state) {
  (void)state;
  size_t cie = begin();
  section_add_function(&section, cie, CODE, 0x10, PROGRAM(0));
  section_end(&section);
  section_add_function(&section, cie, CODE + 0x20, 0x10, PROGRAM(0));
  ASSERT_ROWS({0, sp(8, 0, 0)}, {0x10, RULE_NONE});

  cie = begin();
  for (unsigned i = 0; i < 5; i++)
    section_add_function(&section, cie, CODE + i * 0x20, 0x10, PROGRAM(0));
  struct eh_frame frames = section_frames(&section);
  frames.max_frames = 3;
  struct code_table *table = compile_frames(&frames);
  assert_int_equal(code_table_find(table, 0x40), sp(8, 0, 0));
  assert_int_equal(code_table_find(table, 0x60), RULE_NONE);
  code_table_free(table);
}

static void entries_may_have_long_lengths(void **state) {
  (void)state;
  size_t cie = begin();
  size_t offset = section_add_function(&section, cie, CODE, 0x10, PROGRAM(0, 0, 0));
  /* The same again with a length of 8 bytes; what it points back to is 8 bytes farther. */
  size_t size = section.size - offset - 4;
  unsigned char *to = section.bytes + section.size;
  const uint32_t head[3] = {UINT32_MAX, (uint32_t)size, 0};
  const uint32_t body[3] = {(uint32_t)(section.size + 12 - cie),
                            (uint32_t)(CODE + 0x40 - (SECTION_ADDRESS + section.size + 16)), 0x10};
  memcpy(to, head, sizeof(head));
  memcpy(to + 12, body, sizeof(body));
  memset(to + 24, 0, size - 12);
  section.size += 12 + size;
  ASSERT_ROWS({0, sp(8, 0, 0)}, {0x10, RULE_NONE}, {0x40, sp(8, 0, 0)}, {0x50, RULE_NONE});
}

/* A section that is cut anywhere gives the functions that are whole. */
static void cut_sections_are_read_as_far_as_they_go(void **state) {
  (void)state;
  size_t cie = begin();
  for (unsigned i = 0; i < 6; i++)
    section_add_function(&section, cie, CODE + i * 0x20, 0x10, PROGRAM(0x44, 0x0e, 16, 0x86, 2));
  for (size_t size = 0; size <= section.size; size++) {
    unsigned char *exact = malloc(size + 1);
    assert_non_null(exact);
    memcpy(exact + 1, section.bytes, size); /* not aligned, and its end is guarded by ASan */
    struct eh_frame frames = {
        .bytes = exact + 1, .size = size, .address = SECTION_ADDRESS, .max_frames = UINT64_MAX};
    struct eh_frame_position position = {0};
    struct fde fde;
    uintptr_t expected = CODE;
    while (eh_frame_next(&frames, &position, &fde)) {
      assert_int_equal(fde.start, expected);
      expected += 0x20;
    }
    size_t whole = size < 20 ? 0 : (size - 20) / (section.size / 6);
    assert_in_range((expected - CODE) / 0x20, whole == 0 ? 0 : whole - 1, 6);
    code_table_free(compile_frames(&frames));
    free(exact);
  }
}

static void an_empty_section_has_no_table(void **state) {
  (void)state;
  section.size = 0;
  assert_null(compile());
  begin();
  assert_null(compile());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_usual_function_has_its_rows),
      cmocka_unit_test(equal_neighbours_are_one_row),
      cmocka_unit_test(state_is_remembered_and_restored),
      cmocka_unit_test(long_advances_and_operands_are_read),
      cmocka_unit_test(the_outermost_function_ends_the_stack),
      cmocka_unit_test(an_unknown_instruction_loses_the_rest_of_its_function),
      cmocka_unit_test(broken_programs_lose_the_rest_of_their_function),
      cmocka_unit_test(functions_need_not_be_sorted),
      cmocka_unit_test(overlapping_functions_end_where_the_next_begins),
      cmocka_unit_test(functions_outside_of_the_code_are_left_out),
      cmocka_unit_test(odd_rules_are_wide),
      cmocka_unit_test(the_short_form_holds_up_to_its_limits),
      cmocka_unit_test(equal_wide_rules_are_kept_once),
      cmocka_unit_test(unsupported_expressions_have_no_rule),
      cmocka_unit_test(augmentations_are_read),
      cmocka_unit_test(signal_frames_are_known),
      cmocka_unit_test(other_signal_frames_have_no_rule),
      cmocka_unit_test(other_kinds_of_cie_are_refused),
      cmocka_unit_test(a_function_that_wraps_round_is_left_out),
      cmocka_unit_test(the_section_ends_where_it_says),
      cmocka_unit_test(entries_may_have_long_lengths),
      cmocka_unit_test(cut_sections_are_read_as_far_as_they_go),
      cmocka_unit_test(an_empty_section_has_no_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
