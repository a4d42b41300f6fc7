/* The rows of every loaded object's table say what libdw reads in the same .eh_frame. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "code_table.h"
#include "publish.h"
#include "unwind/modules.h"
#include "unwind/unwind.h"

enum {
  FILE_HEAD_ROWS = 4000,
  STRIDE = 13
};

/* A rule in libdw's words; offsets are meaningful for PLACE_AT_CFA. */
struct reading {
  enum rule_kind kind; /* RULE_NONE, RULE_END, or RULE_WIDE: any other */
  bool cfa_is_register;
  unsigned cfa_register;
  int64_t cfa_offset;
  struct place pc, fp, bx;
};

static struct place read_register(Dwarf_Frame *frame, int number) {
  Dwarf_Op memory[3];
  Dwarf_Op *ops;
  size_t count;
  if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
    fail_msg("libdw: %s", dwarf_errmsg(-1));
  if (count == 0)
    return (struct place){.kind = ops == NULL ? PLACE_SAME : PLACE_LOST};
  if (ops[0].atom != DW_OP_call_frame_cfa)
    return (struct place){.kind = count == 1 && ops[0].atom == DW_OP_regx ? PLACE_REGISTER
                                                                          : PLACE_AT_EXPRESSION};
  /* The CFA alone, or plus a constant; else it is what an expression starts with. */
  bool has_offset = count > 1 && ops[1].atom == DW_OP_plus_uconst;
  bool is_value = ops[count - 1].atom == DW_OP_stack_value;
  if (count != (size_t)(1 + has_offset + is_value))
    return (struct place){.kind = PLACE_AT_EXPRESSION};
  return (struct place){.kind = is_value ? PLACE_CFA : PLACE_AT_CFA,
                        .value = has_offset ? (int32_t)ops[1].number : 0};
}

static struct reading read_frame(Dwarf_CFI *cfi, uint64_t address) {
  Dwarf_Frame *frame;
  struct reading reading = {.kind = RULE_NONE};
  if (dwarf_cfi_addrframe(cfi, address, &frame) != 0)
    return reading;
  Dwarf_Op *ops;
  size_t count;
  assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
  reading.kind = RULE_WIDE;
  reading.cfa_is_register =
      count == 1 &&
      (ops[0].atom == DW_OP_bregx || (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31));
  if (reading.cfa_is_register) {
    bool is_long = ops[0].atom == DW_OP_bregx;
    reading.cfa_register = is_long ? (unsigned)ops[0].number : ops[0].atom - (unsigned)DW_OP_breg0;
    reading.cfa_offset = (int64_t)(is_long ? ops[0].number2 : ops[0].number);
  }
  reading.pc = read_register(frame, DWARF_PC);
  reading.fp = read_register(frame, DWARF_FP);
  reading.bx = read_register(frame, DWARF_BX);
  if (reading.bx.kind == PLACE_LOST) /* libdw's default for a register that no rule names */
    reading.bx.kind = PLACE_SAME;
  if (reading.pc.kind == PLACE_LOST)
    reading.kind = RULE_END;
  free(frame);
  return reading;
}

static struct place saved(uintptr_t depth) {
  return depth == 0 ? (struct place){.kind = PLACE_SAME}
                    : (struct place){.kind = PLACE_AT_CFA, .value = -(int32_t)depth};
}

/* The same for a rule of ours. */
static struct reading read_rule(const struct code_table *table, packed_rule rule) {
  struct reading reading = {.kind = rule_kind(rule)};
  switch (rule_kind(rule)) {
  case RULE_NONE:
  case RULE_END:
    return reading;
  case RULE_SIGNAL:
    reading.kind = RULE_WIDE;
    reading.pc.kind = reading.fp.kind = reading.bx.kind = PLACE_AT_EXPRESSION;
    return reading;
  case RULE_WIDE: {
    const struct wide_rule *wide = &table->wide[rule_wide_index(rule)];
    reading.cfa_is_register = wide->cfa.kind == PLACE_REGISTER;
    reading.cfa_register = wide->cfa.reg;
    reading.cfa_offset = reading.cfa_is_register ? wide->cfa.value : 0;
    reading.pc = wide->pc;
    reading.fp = wide->fp;
    reading.bx = wide->bx;
    return reading;
  }
  default:
    reading.cfa_is_register = true;
    reading.cfa_register = rule_kind(rule) == RULE_SP   ? DWARF_SP
                           : rule_kind(rule) == RULE_FP ? DWARF_FP
                                                        : DWARF_BX;
    reading.cfa_offset = (int64_t)rule_offset(rule);
    reading.kind = RULE_WIDE;
    reading.pc = saved(RULE_WORD_BYTES);
    reading.fp = saved(rule_fp_depth(rule));
    reading.bx = saved(rule_bx_depth(rule));
    return reading;
  }
}

static bool same_place(const struct place *ours, const struct place *theirs) {
  if (ours->kind == PLACE_AT_CFA || ours->kind == PLACE_CFA)
    return ours->kind == theirs->kind && ours->value == theirs->value;
  if (ours->kind == PLACE_AT_EXPRESSION || ours->kind == PLACE_EXPRESSION)
    return theirs->kind == PLACE_AT_EXPRESSION;
  return ours->kind == theirs->kind;
}

static bool same(const struct reading *ours, const struct reading *theirs) {
  if (ours->kind != theirs->kind)
    return false;
  if (ours->kind != RULE_WIDE)
    return true;
  return ours->cfa_is_register == theirs->cfa_is_register &&
         ours->cfa_register == theirs->cfa_register && ours->cfa_offset == theirs->cfa_offset &&
         same_place(&ours->pc, &theirs->pc) && same_place(&ours->fp, &theirs->fp) &&
         same_place(&ours->bx, &theirs->bx);
}

static void check_address(const struct region *region, const struct module *module, Dwarf_CFI *cfi,
                          uint32_t offset, packed_rule rule) {
  struct reading ours = read_rule(region->table, rule);
  struct reading theirs = read_frame(cfi, region->start + offset - module->bias);
  if (!same(&ours, &theirs))
    fail_msg("%s at %#zx: kind %d, CFA r%u%+ld, pc %d, fp %d%+d, bx %d%+d; libdw kind %d, CFA "
             "r%u%+ld, pc %d, fp %d%+d, bx %d%+d",
             module->path, (size_t)(region->start + offset - module->bias), (int)ours.kind,
             ours.cfa_register, (long)ours.cfa_offset, ours.pc.kind, ours.fp.kind, ours.fp.value,
             ours.bx.kind, ours.bx.value, (int)theirs.kind, theirs.cfa_register,
             (long)theirs.cfa_offset, theirs.pc.kind, theirs.fp.kind, theirs.fp.value,
             theirs.bx.kind, theirs.bx.value);
}

/* Compares both ends of rows, and finds each by look-up. Returns how many. */
static size_t check_rows(const struct region *region, const struct module *module, Dwarf_CFI *cfi) {
  const struct code_table *table = region->table;
  size_t checked = 0;
  for (uint32_t i = 0; i < table->row_count; i++, checked++) {
    const struct rule_row *row = &table->rows[i];
    uint32_t last = (i + 1 < table->row_count ? row[1].offset : table->code_bytes) - 1;
    assert_int_equal(code_table_find(table, row->offset), row->rule);
    assert_int_equal(code_table_find(table, last), row->rule);
    check_address(region, module, cfi, row->offset, row->rule);
    check_address(region, module, cfi, last, row->rule);
  }
  return checked;
}

static size_t check_module(const struct region *region) {
  const struct module *module = module_at(region->module);
  int file = open(module->path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || region->table == NULL)
    return 0; /* the vdso */
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
  assert_non_null(elf);
  Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
  assert_non_null(cfi);
  size_t checked = check_rows(region, module, cfi);
  dwarf_cfi_end(cfi);
  elf_end(elf);
  close(file);
  return checked;
}

static void rows_are_what_libdw_reads(void **state) {
  (void)state;
  const struct snapshot *snapshot = publish_current();
  size_t rows = 0;
  for (size_t i = 0; i < snapshot->count; i++)
    rows += check_module(&snapshot->regions[i]);
  print_message("%zu rows of %zu objects\n", rows, snapshot->count);
  assert_in_range(rows, 10000, SIZE_MAX);
}

static void look_ups_agree_with_a_linear_search(void **state) {
  (void)state;
  const struct snapshot *snapshot = publish_current();
  for (size_t i = 0; i < snapshot->count; i++) {
    const struct code_table *table = snapshot->regions[i].table;
    uint32_t row = 0;
    for (uint32_t offset = 0; table != NULL && offset < table->code_bytes; offset += 3) {
      while (row + 1 < table->row_count && table->rows[row + 1].offset <= offset)
        row++;
      if (code_table_find(table, offset) != table->rows[row].rule)
        fail_msg("module %u, offset %u: %#x is not %#x", snapshot->regions[i].module, offset,
                 code_table_find(table, offset), table->rows[row].rule);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_what_libdw_reads),
      cmocka_unit_test(look_ups_agree_with_a_linear_search),
  };
  if (unwind_refresh() != 0)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
