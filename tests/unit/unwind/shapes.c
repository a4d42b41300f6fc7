#include "shapes.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

NOINLINE static long leaf(long seed) {
  return seed * 3 + 1;
}

NOINLINE static long plain(shape_visit *visit, void *context, long seed) {
  return leaf(seed) + visit(context) + leaf(seed + 1);
}

/* Needs every callee-saved register. */
NOINLINE static long many_registers(shape_visit *visit, void *context, long seed) {
  long a = leaf(seed), b = leaf(a), c = leaf(b), d = leaf(c), e = leaf(d), f = leaf(e);
  long v = visit(context);
  return a ^ b ^ c ^ d ^ e ^ f ^ v ^ plain(visit, context, f);
}

NOINLINE static long large_frame(shape_visit *visit, void *context, long seed) {
  char bytes[300000];
  memset(bytes, (int)seed, 1024);
  KEEP(bytes);
  return visit(context) + bytes[seed & 1023];
}

NOINLINE static long dynamic_frame(shape_visit *visit, void *context, long seed) {
  char *bytes = __builtin_alloca(64 + (size_t)(seed & 255));
  memset(bytes, (int)seed, 64);
  KEEP(bytes);
  return plain(visit, context, seed) + bytes[seed & 31];
}

/* Its stack pointer is aligned at run time, the frame found through rbp. */
NOINLINE static long aligned_frame(shape_visit *visit, void *context, long seed) {
  alignas(64) char bytes[128];
  memset(bytes, (int)seed, sizeof(bytes));
  KEEP(bytes);
  return visit(context) + bytes[seed & 63];
}

/* Both at once: gcc reaches the arguments through r10 and describes the frame by expressions. */
NOINLINE __attribute__((force_align_arg_pointer)) static long
realigned(shape_visit *visit, void *context, long seed, long a, long b, long c, long d, long e) {
  alignas(128) char bytes[256];
  char *more = __builtin_alloca(16 + (size_t)(seed & 63));
  memset(bytes, (int)seed, sizeof(bytes));
  memset(more, (int)seed, 16);
  KEEP(bytes);
  KEEP(more);
  return visit(context) + bytes[seed & 127] + more[0] + a + b + c + d + e;
}

NOINLINE static long realigned_frame(shape_visit *visit, void *context, long seed) {
  return realigned(visit, context, seed, 1, 2, 3, 4, leaf(seed));
}

NOINLINE static long tail_call(shape_visit *visit, void *context, long seed) {
  if (seed % 2 == 0)
    return plain(visit, context, seed + 2);
  return many_registers(visit, context, seed - 2);
}

NOINLINE static long sum(int count, ...) {
  va_list list;
  long total = 0;
  va_start(list, count);
  for (int i = 0; i < count; i++)
    total += va_arg(list, long);
  va_end(list);
  return total;
}

NOINLINE static long variadic(shape_visit *visit, void *context, long seed) {
  return sum(9, seed, 2L, 3L, 4L, 5L, 6L, 7L, 8L, visit(context));
}

/* Returns early before its frame is set up, which gcc does for cold halves. */
NOINLINE static long early_return(shape_visit *visit, void *context, long seed) {
  if (seed == 0)
    return 7;
  char text[64];
  snprintf(text, sizeof(text), "%ld %s", seed, "words");
  return visit(context) + (long)strlen(text);
}

struct order {
  shape_visit *visit;
  void *context;
  long visits;
};

/* qsort() has no argument for its callback. */
static struct order order;

static int compare(const void *a, const void *b) {
  if (order.visits++ % 16 == 0)
    order.visit(order.context);
  return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

NOINLINE static long through_libc(shape_visit *visit, void *context, long seed) {
  int numbers[40];
  order = (struct order){visit, context, 0};
  for (int i = 0; i < 40; i++)
    numbers[i] = (int)((seed + i * 7919) % 1009);
  qsort(numbers, 40, sizeof(numbers[0]), compare);
  int wanted = numbers[13];
  const int *found = bsearch(&wanted, numbers, 40, sizeof(numbers[0]), compare);
  return found == NULL ? -1 : *found + order.visits;
}

// NOLINTNEXTLINE(misc-no-recursion)
NOINLINE static long jump_deep(shape_visit *visit, void *context, jmp_buf *back, long depth) {
  char bytes[100];
  memset(bytes, (int)depth, sizeof(bytes));
  KEEP(bytes);
  if (depth == 0 && visit(context) != 0)
    longjmp(*back, 3);
  if (depth <= 0)
    return 0;
  return jump_deep(visit, context, back, depth - 1) + bytes[1];
}

NOINLINE long shape_jump(shape_visit *visit, void *context, long seed) {
  jmp_buf back;
  int got = setjmp(back);
  if (got == 0)
    return jump_deep(visit, context, &back, 5);
  return got + visit(context) + seed;
}

// NOLINTNEXTLINE(misc-no-recursion)
NOINLINE long shape_recurse(shape_visit *visit, void *context, long depth) {
  volatile long own = depth; /* no compiler makes a loop of it */
  if (depth == 0)
    return visit(context);
  return shape_recurse(visit, context, depth - 1) + leaf(own);
}

static long recursive(shape_visit *visit, void *context, long seed) {
  return shape_recurse(visit, context, 20) + seed;
}

const struct shape shapes[] = {
    {"plain", plain},
    {"many_registers", many_registers},
    {"large_frame", large_frame},
    {"dynamic_frame", dynamic_frame},
    {"aligned_frame", aligned_frame},
    {"realigned_frame", realigned_frame},
    {"tail_call", tail_call},
    {"variadic", variadic},
    {"early_return", early_return},
    {"through_libc", through_libc},
    {"recursive", recursive},
};
const size_t shape_count = sizeof(shapes) / sizeof(shapes[0]);
