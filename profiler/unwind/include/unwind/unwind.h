#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stddef.h>
#include <stdint.h>

/*
 * Walks call stacks from a signal handler or an allocation hook. It reads its own
 * tables (compiled from .eh_frame by unwind_refresh()) and the stack, nothing
 * else: no lock, no allocation, no loader, no memory that could go away.
 */

/* Where a walk starts. unwind_here() and unwind_interrupted() fill it in. */
struct unwind_start {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;
  uintptr_t bx;      /* x86-64: rbx, which some code uses as its frame pointer */
  uintptr_t context; /* the ucontext_t that holds the other registers; 0 when they are not known */
};

/*
 * The thread's stack, [low, high): all of it that lies above the thread's stack pointer
 * must be mapped. A walk loads from there directly. Other memory that it is led to (a
 * coroutine's stack, a signal stack, the stack of a thread of which nobody told us) is
 * copied by the kernel in small pieces, so that a bad address is an error and no fault;
 * this costs a system call or two for every few frames. {0, 0} is unknown.
 */
struct unwind_stack {
  uintptr_t low;
  uintptr_t high;
};

/* Why a walk ended. */
enum unwind_end {
  UNWIND_COMPLETE = 0, /* at the thread's or the process's first function */
  UNWIND_TOO_DEEP,     /* `max` frames were found: the outermost are missing */
  UNWIND_NO_MODULE,    /* the code is in no known object: JIT code, or an object loaded just now */
  UNWIND_NO_RULE,      /* the object has no rule for the address, or one that is not supported */
  UNWIND_BAD_STACK,    /* the rule led out of the stack or did not lead up */
};

/*
 * Writes the program counters, innermost first: the first as given, the others
 * return addresses (look them up one byte back; except that a frame interrupted
 * by a signal has its own pc + 1, so that the same rule holds). Returns how many,
 * at least 1 when max > 0. Async-signal-safe; keeps errno; needs 600 bytes of stack, and 1,200
 * where it meets code without rules or with very odd ones.
 *
 * Code without rules (generated at run time, assembly without call frame information) is
 * passed by its frame pointer, or in the innermost function by the word at the stack
 * pointer, where that leads back to code with rules; a caller of it may then be missing.
 */
size_t unwind_walk(const struct unwind_start *start, const struct unwind_stack *stack,
                   uintptr_t *pcs, size_t max, enum unwind_end *out_end);

/* The caller's own registers; inlined into it. */
static inline __attribute__((always_inline)) struct unwind_start unwind_here(void) {
  struct unwind_start start;
#if defined(__x86_64__)
  /* Registers of their own: an output in rbp or rbx would overwrite what is yet to be read. */
  __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2\n\tmovq %%rbx, %3"
                   : "=a"(start.pc), "=c"(start.sp), "=d"(start.fp), "=S"(start.bx));
#elif defined(__aarch64__)
  __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"
                   : "=&r"(start.pc), "=&r"(start.sp), "=r"(start.fp));
  start.bx = 0;
#elif defined(__riscv)
  __asm__ volatile("auipc %0, 0\n\tmv %1, sp\n\tmv %2, s0"
                   : "=&r"(start.pc), "=&r"(start.sp), "=r"(start.fp));
  start.bx = 0;
#else
#error "Say here how this machine's registers are read."
#endif
  start.context = 0;
  return start;
}

/*
 * The registers at which a signal interrupted the thread; `context` is the handler's ucontext_t,
 * in place during the walk. Async-signal-safe.
 */
struct unwind_start unwind_interrupted(const void *context);

/*
 * Brings the tables up to date with the loaded objects; call it from an ordinary
 * thread at start, and then now and then: it is cheap when nothing changed.
 * Returns 0, or -1 when memory ran out (the old tables stay). One caller at a time.
 */
int unwind_refresh(void);

/* Frees the tables, when no walk can run any more. */
void unwind_release(void);

/*
 * In the child of a fork: no walk of another thread is under way. Async-signal-safe. The
 * caller sees to it that no fork happens during another thread's unwind_refresh().
 */
void unwind_after_fork(void);

/* Bytes held by the tables. */
size_t unwind_memory_bytes(void);

#endif
