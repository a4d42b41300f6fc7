#include "code_table.h"

#include <assert.h>
#include <string.h>

#include "cfi.h"
#include "pages.h"

enum {
  MIN_BLOCK_SHIFT = 8
};

/* The functions of a section that lie in the code, in the order of the section. */
static int functions_collect(const struct eh_frame *frames, uintptr_t start, uintptr_t end,
                             struct page_buffer *out) {
  struct eh_frame_position position = {0};
  struct fde fde;
  while (eh_frame_next(frames, &position, &fde)) {
    if (fde.start < start || fde.start >= end || fde.end == fde.start)
      continue;
    struct fde *function = page_buffer_add(out, sizeof(*function));
    if (function == NULL)
      return -1;
    *function = fde;
  }
  return 0;
}

/* Where the ascending run that begins at `first` ends. */
static size_t run_end(const struct fde *functions, size_t count, size_t first) {
  size_t end = first + 1;
  while (end < count && functions[end - 1].start <= functions[end].start)
    end++;
  return end;
}

static void merge(const struct fde *from, size_t first, size_t middle, size_t end, struct fde *to) {
  size_t left = first;
  size_t right = middle;
  for (size_t i = first; i < end; i++) {
    bool take_left = left < middle && (right == end || from[left].start <= from[right].start);
    to[i] = take_left ? from[left++] : from[right++];
  }
}

/* Merges neighbouring runs of `from` pairwise into `to`; returns how many runs that leaves. */
static size_t merge_runs(const struct fde *from, size_t count, struct fde *to) {
  size_t runs = 0;
  for (size_t first = 0; first < count; runs++) {
    size_t middle = run_end(from, count, first);
    size_t end = middle < count ? run_end(from, count, middle) : middle;
    merge(from, first, middle, end, to);
    first = end;
  }
  return runs;
}

/*
 * Sorts by address. Linkers write few ascending runs, most often one; qsort() would
 * take memory from malloc, and shift the program's mmap threshold by giving it back.
 */
static int functions_sort(struct page_buffer *functions, struct page_buffer *scratch) {
  size_t count = functions->bytes / sizeof(struct fde);
  if (count == 0 || run_end((const struct fde *)(const void *)functions->data, count, 0) == count)
    return 0;
  page_buffer_cut(scratch, 0);
  if (page_buffer_add(scratch, functions->bytes) == NULL)
    return -1;
  size_t runs;
  do {
    runs = merge_runs((const struct fde *)(const void *)functions->data, count,
                      (struct fde *)(void *)scratch->data);
    struct page_buffer swap = *functions;
    *functions = *scratch;
    *scratch = swap;
  } while (runs > 1);
  return 0;
}

/* The rules of sorted functions; what lies between them has none. */
static void functions_compile(const struct eh_frame *frames, const struct page_buffer *buffer,
                              uintptr_t base, uint32_t code_bytes, struct rule_set *set) {
  const struct fde *functions = (const struct fde *)(const void *)buffer->data;
  size_t count = buffer->bytes / sizeof(struct fde);
  struct cie cie;
  bool has_cie = false;
  for (size_t i = 0; i < count; i++) {
    const struct fde *before = i == 0 ? NULL : &functions[i - 1];
    if (before != NULL && functions[i].start == before->start)
      continue;
    if (before == NULL || functions[i].cie_offset != before->cie_offset)
      has_cie = eh_frame_cie(frames, functions[i].cie_offset, &cie);
    if (has_cie)
      cfi_compile(&cie, &functions[i], base, code_bytes, set);
    if (functions[i].end - base < code_bytes)
      rule_set_add(set, (uint32_t)(functions[i].end - base), RULE_NONE);
  }
}

static void fill_blocks(const struct code_table *table, uint32_t *blocks, uint32_t block_count) {
  uint32_t row = 0;
  for (uint32_t block = 0; block < block_count; block++) {
    uint64_t first_byte = (uint64_t)block << table->block_shift;
    while (row + 1 < table->row_count && table->rows[row + 1].offset <= first_byte)
      row++;
    blocks[block] = row;
  }
  blocks[block_count] = table->row_count - 1;
}

/* Lays a rule set out as a table: head, rows, wide rules, steps, blocks. */
static struct code_table *table_create(const struct rule_set *set, uint32_t code_bytes) {
  const struct rule_row *rows = (const struct rule_row *)(const void *)set->rows.data;
  size_t row_count = set->rows.bytes / sizeof(*rows);
  size_t lead = row_count == 0 || rows[0].offset > 0 ? 1 : 0;
  assert(row_count + lead <= UINT32_MAX);
  uint32_t shift = MIN_BLOCK_SHIFT;
  while (code_bytes >> shift > row_count && shift < 31)
    shift++;
  uint32_t block_count = ((code_bytes - 1) >> shift) + 1;

  size_t rows_at = sizeof(struct code_table);
  size_t wide_at = rows_at + (row_count + lead) * sizeof(*rows);
  size_t steps_at = wide_at + set->wide.bytes;
  size_t blocks_at = steps_at + set->steps.bytes;
  size_t bytes = blocks_at + ((size_t)block_count + 1) * sizeof(uint32_t);
  unsigned char *memory = pages_map(bytes);
  if (memory == NULL)
    return NULL;

  struct rule_row *to = (struct rule_row *)(void *)(memory + rows_at);
  to[0] = (struct rule_row){0, RULE_NONE};
  memcpy(to + lead, rows, row_count * sizeof(*rows));
  if (set->wide.bytes > 0)
    memcpy(memory + wide_at, set->wide.data, set->wide.bytes);
  if (set->steps.bytes > 0)
    memcpy(memory + steps_at, set->steps.data, set->steps.bytes);
  struct code_table *table = (struct code_table *)(void *)memory;
  *table = (struct code_table){
      .retired = {.bytes = bytes},
      .code_bytes = code_bytes,
      .block_shift = shift,
      .row_count = (uint32_t)(row_count + lead),
      .rows = to,
      .blocks = (const uint32_t *)(const void *)(memory + blocks_at),
      .wide = (const struct wide_rule *)(const void *)(memory + wide_at),
      .steps = (const struct expression_step *)(const void *)(memory + steps_at),
  };
  fill_blocks(table, (uint32_t *)(void *)(memory + blocks_at), block_count);
  return table;
}

int code_table_build(struct code_table_builder *builder, const struct eh_frame *frames,
                     uintptr_t start, uintptr_t end, struct code_table **out) {
  assert(start < end);
  struct code_table *table = NULL;
  if (end - start > UINT32_MAX) {
    *out = NULL;
    return 0;
  }
  uint32_t code_bytes = (uint32_t)(end - start);
  struct rule_set *rules = &builder->rules;
  page_buffer_cut(&builder->functions, 0);
  rule_set_clear(rules);
  if (functions_collect(frames, start, end, &builder->functions) != 0 ||
      functions_sort(&builder->functions, &builder->sorted) != 0)
    return -1;
  functions_compile(frames, &builder->functions, start, code_bytes, rules);
  if (rules->no_memory)
    return -1;
  if (rules->rows.bytes > 0 && (table = table_create(rules, code_bytes)) == NULL)
    return -1;
  *out = table;
  return 0;
}

void code_table_builder_free(struct code_table_builder *builder) {
  page_buffer_free(&builder->functions);
  page_buffer_free(&builder->sorted);
  rule_set_free(&builder->rules);
}

void code_table_free(struct code_table *table) {
  if (table != NULL)
    pages_unmap(table, table->retired.bytes);
}
