/* Broken sections and senseless registers: never a fault, always an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_table.h"
#include "frame.h"
#include "objects.h"
#include "publish.h"
#include "unwind/unwind.h"

enum {
  ROUNDS = 4000,
  WALKS = 40,
  WINDOW_BYTES = 6000,
  STACK_WORDS = 256,
  MAX_FRAMES = 50
};

static uint64_t random_state = 20240229;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static uint64_t below(uint64_t limit) {
  return next_random() % limit;
}

/* Everything that a look-up relies on. */
static void check_table(const struct code_table *table) {
  const unsigned char *memory = (const unsigned char *)table;
  size_t wide_count = (size_t)((const struct wide_rule *)(const void *)table->steps - table->wide);
  size_t step_count =
      (size_t)((const struct expression_step *)(const void *)table->blocks - table->steps);
  assert_in_range((size_t)((const unsigned char *)table->blocks - memory), 0, table->retired.bytes);
  assert_int_equal(table->rows[0].offset, 0);
  for (uint32_t i = 0; i < table->row_count; i++) {
    packed_rule rule = table->rows[i].rule;
    assert_in_range(table->rows[i].offset, 0, table->code_bytes - 1);
    if (i > 0)
      assert_true(table->rows[i].offset > table->rows[i - 1].offset);
    if (rule_kind(rule) != RULE_WIDE)
      continue;
    assert_in_range(rule_wide_index(rule), 0, wide_count - 1);
    const struct place *places = &table->wide[rule_wide_index(rule)].cfa;
    for (size_t p = 0; p < sizeof(struct wide_rule) / sizeof(struct place); p++)
      if (places[p].kind == PLACE_EXPRESSION || places[p].kind == PLACE_AT_EXPRESSION)
        assert_in_range((size_t)places[p].value + places[p].step_count, 1, step_count);
  }
  uint32_t blocks = ((table->code_bytes - 1) >> table->block_shift) + 1;
  for (uint32_t block = 0; block <= blocks; block++)
    assert_in_range(table->blocks[block], block == 0 ? 0 : table->blocks[block - 1],
                    table->row_count - 1);
}

/* A word of the kinds that make walks go on: addresses of code and stack, small numbers. */
static uintptr_t random_word(uintptr_t code, uint32_t code_bytes, const uintptr_t *stack) {
  switch (below(6)) {
  case 0:
    return code + below(code_bytes);
  case 1:
  case 2:
    return (uintptr_t)(stack + below(STACK_WORDS));
  case 3:
    return (uintptr_t)(stack + below(STACK_WORDS)) + below(16) - 8;
  case 4:
    return below(4096);
  default:
    return next_random() >> below(64);
  }
}

static void walk_at_random(const struct code_table *table, uintptr_t code) {
  static uintptr_t stack[STACK_WORDS];
  static struct snapshot *snapshot;
  if (snapshot == NULL)
    snapshot = snapshot_create(1);
  assert_non_null(snapshot);
  snapshot->count = 1;
  snapshot->regions[0] =
      (struct region){.start = code, .end = code + table->code_bytes, .table = table};
  for (size_t i = 0; i < STACK_WORDS; i++)
    stack[i] = random_word(code, table->code_bytes, stack);
  for (int i = 0; i < WALKS; i++) {
    uintptr_t row = table->rows[below(table->row_count)].offset;
    struct frame frame = {
        .registers = {.pc = below(4) == 0 ? code + below(table->code_bytes) : code + row,
                      .sp = random_word(code, table->code_bytes, stack),
                      .fp = random_word(code, table->code_bytes, stack),
                      .bx = random_word(code, table->code_bytes, stack),
                      .context = random_word(code, table->code_bytes, stack)},
        .interrupted = below(2) == 0};
    struct walk walk = {.snapshot = snapshot};
    const struct unwind_stack bounds = {(uintptr_t)stack, (uintptr_t)(stack + STACK_WORDS)};
    const struct unwind_stack unknown = {0, 0};
    stack_view_init(&walk.view, below(4) == 0 ? &unknown : &bounds, frame.registers.sp);
    for (int step = 0; step < MAX_FRAMES; step++)
      if (step_by_rule(&walk, &frame) != STEP_CALLER && !step_by_guess(&walk, &frame))
        break;
  }
}

static void mutate(unsigned char *bytes, size_t size) {
  for (uint64_t count = below(12); count > 0; count--) {
    size_t at = below(size);
    switch (below(4)) {
    case 0:
      bytes[at] ^= (unsigned char)(1U << below(8));
      break;
    case 1:
      bytes[at] = (unsigned char)next_random();
      break;
    case 2:
      bytes[at] = below(2) == 0 ? 0xff : 0;
      break;
    default:
      memmove(bytes + at, bytes + below(size - (size - at) / 3 + 1), (size - at) / 3);
      break;
    }
  }
}

/* A window of a real section that begins with its first CIE, broken in a few places. */
static void fuzz_once(const struct eh_frame *real, const struct object *object,
                      struct code_table_builder *builder) {
  size_t size = 1 + below(real->size < WINDOW_BYTES ? real->size : WINDOW_BYTES);
  unsigned char *bytes = malloc(size); /* exact, for ASan */
  assert_non_null(bytes);
  memcpy(bytes, real->bytes, size);
  mutate(bytes, size);
  struct eh_frame frames = *real;
  frames.bytes = bytes;
  frames.size = size;
  struct code_table *table;
  assert_int_equal(code_table_build(builder, &frames, object->start, object->end, &table), 0);
  free(bytes);
  if (table == NULL)
    return;
  check_table(table);
  walk_at_random(table, object->start);
  code_table_free(table);
}

static void broken_sections_do_no_harm(void **state) {
  (void)state;
  struct object_list list;
  struct page_buffer bytes = {0};
  struct code_table_builder builder = {0};
  assert_int_equal(object_list_read(&list), 0);
  size_t used = 0;
  for (size_t i = 0; i < object_list_count(&list); i++) {
    const struct object *object = object_list_at(&list, i);
    struct eh_frame frames;
    assert_int_equal(object_copy_frames(object, &bytes, &frames), 0);
    if (frames.size == 0)
      continue;
    used++;
    for (size_t round = 0; round < ROUNDS / object_list_count(&list) + 1; round++)
      fuzz_once(&frames, object, &builder);
  }
  assert_in_range(used, 3, SIZE_MAX);
  code_table_builder_free(&builder);
  page_buffer_free(&bytes);
  object_list_free(&list);
}

/* True tables, and stacks and registers that make no sense. */
static void senseless_stacks_do_no_harm(void **state) {
  (void)state;
  assert_int_equal(unwind_refresh(), 0);
  const struct snapshot *snapshot = publish_current();
  for (size_t round = 0; round < 400; round++) {
    const struct region *region = &snapshot->regions[below(snapshot->count)];
    if (region->table != NULL)
      walk_at_random(region->table, region->start);
  }
  unwind_release();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broken_sections_do_no_harm),
      cmocka_unit_test(senseless_stacks_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
