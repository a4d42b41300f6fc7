/* Single steps over stacks and through rules that are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "code_table.h"
#include "frame.h"
#include "publish.h"
#include "section.h"

enum {
  CODE_BYTES = 0x1000,
  STACK_WORDS = 512
};
#define CODE ((uintptr_t)0x400000)
#define UNKNOWN_CODE ((uintptr_t)0x900000)

/* Functions of 0x10 bytes each, and their rules. */
enum function {
  BY_SP = 0x00,     /* CFA = rsp + 16, rbp saved */
  BY_FP = 0x10,     /* CFA = rbp + 16, rbp saved */
  BY_BX = 0x20,     /* CFA = rbx + 8 */
  BY_R10 = 0x30,    /* CFA = r10 */
  JUMPING = 0x40,   /* pc in rdx, rsp in r8, rbp in r9, as at the end of longjmp */
  LOSING = 0x50,    /* CFA = rsp + 8, rbp and rbx undefined */
  OUTERMOST = 0x60, /* no caller */
  SIGNAL = 0x70,
  LINKAGE = 0x80,   /* CFA = rsp + 8, and 8 more at the end of 16 bytes */
  REALIGNED = 0x90, /* CFA = the word at rbp - 8; rbp saved at rbp */
  NO_RULE = 0xa0,
};

static struct snapshot *snapshot;
static uintptr_t stack[STACK_WORDS];
static const struct unwind_stack bounds = {(uintptr_t)stack, (uintptr_t)(stack + STACK_WORDS)};

static void add(struct section *section, size_t cie, enum function function,
                struct program program) {
  section_add_function(section, cie, CODE + (uintptr_t)function, 0x10, program);
}

static int set_up(void **state) {
  (void)state;
  static struct section section;
  size_t cie = section_add_usual_cie(&section);
  size_t signal_cie =
      section_add_cie(&section, "zRS", PROGRAM(0x1b), PROGRAM(0x0f, 4, 0x77, 0xa0, 0x01, 0x06));
  add(&section, cie, BY_SP, PROGRAM(0x0e, 16, 0x86, 2));
  add(&section, cie, BY_FP, PROGRAM(0x0c, 6, 16, 0x86, 2));
  add(&section, cie, BY_BX, PROGRAM(0x0d, 3));
  add(&section, cie, BY_R10, PROGRAM(0x0c, 10, 0));
  add(&section, cie, JUMPING, PROGRAM(0x09, 16, 1, 0x09, 7, 8, 0x09, 6, 9));
  add(&section, cie, LOSING, PROGRAM(0x07, 6, 0x07, 3));
  add(&section, cie, OUTERMOST, PROGRAM(0x07, 16));
  add(&section, signal_cie, SIGNAL, PROGRAM(0));
  add(&section, cie, LINKAGE,
      PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
  add(&section, cie, REALIGNED, PROGRAM(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0));

  struct eh_frame frames = section_frames(&section);
  struct code_table_builder builder = {0};
  struct code_table *table;
  snapshot = snapshot_create(1);
  if (snapshot == NULL || code_table_build(&builder, &frames, CODE, CODE + CODE_BYTES, &table) != 0)
    return -1;
  code_table_builder_free(&builder);
  snapshot->count = 1;
  snapshot->regions[0] = (struct region){.start = CODE, .end = CODE + CODE_BYTES, .table = table};
  return 0;
}

static uintptr_t word(size_t index) {
  return (uintptr_t)&stack[index];
}

static uintptr_t in(enum function function) {
  return CODE + (uintptr_t)function + 4;
}

static struct walk begin(uintptr_t sp) {
  struct walk walk = {.snapshot = snapshot};
  stack_view_init(&walk.view, &bounds, sp);
  return walk;
}

static void clear_stack(void) {
  memset(stack, 0, sizeof(stack));
}

static void assert_frame(const struct frame *frame, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  assert_int_equal(frame->registers.pc, pc);
  assert_int_equal(frame->registers.sp, sp);
  assert_int_equal(frame->registers.fp, fp);
  assert_int_equal(frame->registers.context, 0);
  assert_false(frame->interrupted);
}

static void usual_rules_lead_to_the_caller(void **state) {
  (void)state;
  clear_stack();
  stack[10] = 1111;
  stack[11] = in(BY_FP);
  stack[20] = 2222;
  stack[21] = in(BY_BX);
  stack[30] = in(OUTERMOST);
  struct frame frame = {
      .registers = {.pc = in(BY_SP), .sp = word(10), .fp = word(20), .bx = word(30), .context = 8},
      .interrupted = true};
  struct walk walk = begin(frame.registers.sp);
  stack[10] = word(20);
  assert_int_equal(step_by_rule(&walk, &frame), STEP_CALLER);
  assert_frame(&frame, in(BY_FP), word(12), word(20));
  assert_int_equal(step_by_rule(&walk, &frame), STEP_CALLER);
  assert_frame(&frame, in(BY_BX), word(22), 2222);
  assert_int_equal(frame.registers.bx, word(30));
  assert_int_equal(step_by_rule(&walk, &frame), STEP_CALLER);
  assert_frame(&frame, in(OUTERMOST), word(31), 2222);
  assert_int_equal(step_by_rule(&walk, &frame), STEP_END);
  assert_frame(&frame, in(OUTERMOST), word(31), 2222);
}

static enum step step_once(struct frame *frame) {
  struct walk walk = begin(frame->registers.sp);
  return step_by_rule(&walk, frame);
}

static void a_caller_lies_above_its_callee(void **state) {
  (void)state;
  clear_stack();
  stack[21] = in(BY_SP);
  for (size_t fp = 15; fp <= 21; fp++) {
    struct frame frame = {.registers = {.pc = in(BY_FP), .sp = word(20), .fp = word(fp)}};
    stack[fp + 1] = in(BY_SP);
    assert_int_equal(step_once(&frame), fp + 2 > 20 ? STEP_CALLER : STEP_BAD_STACK);
  }
  struct frame frame = {.registers = {.pc = in(BY_FP), .sp = word(20), .fp = UINTPTR_MAX - 7}};
  assert_int_equal(step_once(&frame), STEP_BAD_STACK);
}

/* From a stack elsewhere, above or below, a frame may lead into the thread's own. */
static void a_switch_leads_into_the_known_stack(void **state) {
  (void)state;
  clear_stack();
  stack[40] = word(90);
  stack[41] = in(BY_SP);
  const uintptr_t elsewhere[] = {bounds.high + 4096, bounds.low - 4096};
  for (size_t i = 0; i < 2; i++) {
    struct frame frame = {.registers = {.pc = in(BY_FP), .sp = elsewhere[i], .fp = word(40)}};
    struct walk walk = begin(frame.registers.sp);
    assert_int_equal(walk.view.low, 0);
    assert_int_equal(step_by_rule(&walk, &frame), STEP_CALLER);
    assert_frame(&frame, in(BY_SP), word(42), word(90));
    assert_int_equal(walk.view.low, word(42)); /* from here on words are loaded */
  }
}

/* The context of an interrupted function has its other registers. */
static void other_registers_come_from_the_context(void **state) {
  (void)state;
  clear_stack();
  ucontext_t *context = (ucontext_t *)(void *)&stack[100];
  greg_t *registers = context->uc_mcontext.gregs;
  stack[30] = in(OUTERMOST);
  registers[REG_R10] = (greg_t)word(31);
  struct frame frame = {.registers = {.pc = in(BY_R10), .sp = word(10)}, .interrupted = true};
  assert_int_equal(step_once(&frame), STEP_BAD_STACK);
  frame.registers.context = (uintptr_t)context;
  assert_int_equal(step_once(&frame), STEP_CALLER);
  assert_frame(&frame, in(OUTERMOST), word(31), 0);

  /* Its stack may be anywhere: it is what is jumped to. */
  registers[REG_RDX] = (greg_t)in(BY_SP);
  registers[REG_R8] = (greg_t)word(4);
  registers[REG_R9] = 77;
  frame = (struct frame){
      .registers = {.pc = in(JUMPING), .sp = word(10), .context = (uintptr_t)context},
      .interrupted = true};
  assert_int_equal(step_once(&frame), STEP_CALLER);
  assert_frame(&frame, in(BY_SP), word(4), 77);
}

static void undefined_registers_are_zero(void **state) {
  (void)state;
  clear_stack();
  stack[10] = in(BY_SP);
  struct frame frame = {.registers = {.pc = in(LOSING), .sp = word(10), .fp = 5, .bx = 6}};
  assert_int_equal(step_once(&frame), STEP_CALLER);
  assert_frame(&frame, in(BY_SP), word(11), 0);
  assert_int_equal(frame.registers.bx, 0);
}

static void a_signal_frame_gives_back_every_register(void **state) {
  (void)state;
  clear_stack();
  ucontext_t *context = (ucontext_t *)(void *)&stack[50];
  greg_t *registers = context->uc_mcontext.gregs;
  const uintptr_t pcs[] = {in(BY_BX), 0};
  for (size_t i = 0; i < 2; i++) {
    registers[REG_RIP] = (greg_t)pcs[i];
    registers[REG_RSP] = (greg_t)word(20); /* below: on another stack */
    registers[REG_RBP] = 33;
    registers[REG_RBX] = (greg_t)word(30);
    struct frame frame = {.registers = {.pc = in(SIGNAL), .sp = word(50), .fp = 1, .bx = 2}};
    assert_int_equal(step_once(&frame), STEP_CALLER);
    assert_int_equal(frame.registers.pc, pcs[i]);
    assert_int_equal(frame.registers.sp, word(20));
    assert_int_equal(frame.registers.fp, 33);
    assert_int_equal(frame.registers.bx, word(30));
    assert_int_equal(frame.registers.context, (uintptr_t)context);
    assert_true(frame.interrupted);
  }
}

static void expressions_are_run(void **state) {
  (void)state;
  for (size_t offset = 0; offset < 16; offset++) {
    clear_stack();
    stack[10] = in(BY_FP);
    stack[11] = in(BY_SP);
    struct frame frame = {.registers = {.pc = CODE + LINKAGE + offset, .sp = word(10), .fp = 3},
                          .interrupted = true};
    assert_int_equal(step_once(&frame), STEP_CALLER);
    assert_frame(&frame, offset < 11 ? in(BY_FP) : in(BY_SP), word(offset < 11 ? 11 : 12), 3);
  }
  clear_stack();
  stack[20] = 99;
  stack[19] = word(40);
  stack[39] = in(BY_SP);
  struct frame frame = {.registers = {.pc = in(REALIGNED), .sp = word(10), .fp = word(20)}};
  assert_int_equal(step_once(&frame), STEP_CALLER);
  assert_frame(&frame, in(BY_SP), word(40), 99);
}

static void unknown_code_is_told_from_code_without_rule(void **state) {
  (void)state;
  struct frame frame = {.registers = {.pc = UNKNOWN_CODE, .sp = word(10)}};
  assert_int_equal(step_once(&frame), STEP_NO_MODULE);
  frame.registers.pc = in(NO_RULE);
  assert_int_equal(step_once(&frame), STEP_NO_RULE);
  snapshot->regions[0].module = 1;
  struct region region = snapshot->regions[0];
  snapshot->regions[0].table = NULL;
  assert_int_equal(step_once(&frame), STEP_NO_RULE);
  snapshot->regions[0] = region;
}

static bool guess_once(struct frame *frame) {
  struct walk walk = begin(frame->registers.sp);
  return step_by_guess(&walk, frame);
}

/* The word at the stack pointer is taken as return address if its function has a caller too. */
static void the_stack_pointer_of_an_interrupted_function_is_tried(void **state) {
  (void)state;
  const struct {
    uintptr_t at_sp, next;
    bool interrupted, good;
  } cases[] = {
      {in(BY_SP), in(BY_FP), true, true},     {in(BY_SP), in(NO_RULE), true, true},
      {in(OUTERMOST), 0, true, true},         {in(BY_SP), in(BY_FP), false, false},
      {in(BY_SP), UNKNOWN_CODE, true, false}, {in(BY_SP), 1, true, false},
      {in(NO_RULE), in(BY_SP), true, false},  {UNKNOWN_CODE, in(BY_SP), true, false},
  };
  const uintptr_t pcs[] = {UNKNOWN_CODE, in(NO_RULE), 0};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) * 3; i++) {
    size_t c = i / 3;
    clear_stack();
    stack[10] = cases[c].at_sp;
    stack[12] = cases[c].next;
    struct frame frame = {.registers = {.pc = pcs[i % 3], .sp = word(10), .fp = 9},
                          .interrupted = cases[c].interrupted};
    assert_int_equal(guess_once(&frame), cases[c].good);
    if (cases[c].good)
      assert_frame(&frame, cases[c].at_sp, word(11), 9);
    else
      assert_int_equal(frame.registers.sp, word(10));
  }
}

/* Two frames of unknown code below one with a rule, whose caller is unknown code again. */
static void make_chain(uintptr_t last, uintptr_t beyond) {
  clear_stack();
  stack[20] = word(30);
  stack[21] = UNKNOWN_CODE + 64;
  stack[30] = word(41);
  stack[31] = last; /* BY_SP: its frame holds rbp and the return address */
  stack[32] = word(50);
  stack[33] = UNKNOWN_CODE + 128;
  stack[50] = 0;
  stack[51] = beyond;
}

static void chains_of_frame_pointers_are_followed_to_code_with_a_rule(void **state) {
  (void)state;
  make_chain(in(BY_SP), in(OUTERMOST));
  struct frame frame = {.registers = {.pc = UNKNOWN_CODE, .sp = word(10), .fp = word(20)}};
  struct walk walk = begin(frame.registers.sp);
  assert_true(step_by_guess(&walk, &frame));
  assert_frame(&frame, UNKNOWN_CODE + 64, word(22), word(30));
  assert_true(step_by_guess(&walk, &frame));
  assert_frame(&frame, in(BY_SP), word(32), word(41));
  assert_int_equal(walk.trusted_links, 0);
  assert_int_equal(step_by_rule(&walk, &frame), STEP_CALLER);
  assert_frame(&frame, UNKNOWN_CODE + 128, word(34), word(50));
  assert_true(step_by_guess(&walk, &frame));
  assert_frame(&frame, in(OUTERMOST), word(52), 0);
}

static void chains_that_lead_nowhere_are_not_begun(void **state) {
  (void)state;
  const struct {
    uintptr_t last, beyond;
  } cases[] = {
      {in(NO_RULE), in(OUTERMOST)}, /* a return into code without a rule */
      {UNKNOWN_CODE, in(OUTERMOST)},
      {0, in(OUTERMOST)},
      {in(BY_SP), 0}, /* the rule's caller is unknown, and so are the others */
      {in(BY_SP), UNKNOWN_CODE},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    make_chain(cases[i].last, cases[i].beyond);
    struct frame frame = {.registers = {.pc = UNKNOWN_CODE, .sp = word(10), .fp = word(20)}};
    assert_false(guess_once(&frame));
    assert_frame(&frame, UNKNOWN_CODE, word(10), word(20));
  }
}

static void chains_rise_and_have_an_end(void **state) {
  (void)state;
  make_chain(in(BY_SP), in(OUTERMOST));
  struct frame frame = {.registers = {.pc = UNKNOWN_CODE, .sp = word(22), .fp = word(20)}};
  assert_false(guess_once(&frame)); /* the frame pointer is below the stack pointer */
  stack[20] = word(20);
  frame.registers.sp = word(10);
  assert_false(guess_once(&frame)); /* a ring */
  clear_stack();
  for (size_t i = 20; i + 3 < STACK_WORDS; i += 2) {
    stack[i] = word(i + 2);
    stack[i + 1] = UNKNOWN_CODE;
  }
  stack[STACK_WORDS - 1] = in(OUTERMOST);
  assert_false(guess_once(&frame)); /* longer than any */
}

static int tear_down(void **state) {
  (void)state;
  pages_unmap((void *)(uintptr_t)snapshot->regions[0].table,
              snapshot->regions[0].table->retired.bytes);
  pages_unmap(snapshot, snapshot->retired.bytes);
  return pages_held() == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(usual_rules_lead_to_the_caller),
      cmocka_unit_test(a_caller_lies_above_its_callee),
      cmocka_unit_test(a_switch_leads_into_the_known_stack),
      cmocka_unit_test(other_registers_come_from_the_context),
      cmocka_unit_test(undefined_registers_are_zero),
      cmocka_unit_test(a_signal_frame_gives_back_every_register),
      cmocka_unit_test(expressions_are_run),
      cmocka_unit_test(unknown_code_is_told_from_code_without_rule),
      cmocka_unit_test(the_stack_pointer_of_an_interrupted_function_is_tried),
      cmocka_unit_test(chains_of_frame_pointers_are_followed_to_code_with_a_rule),
      cmocka_unit_test(chains_that_lead_nowhere_are_not_begun),
      cmocka_unit_test(chains_rise_and_have_an_end),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
