#include "assembly.h"

#define FUNCTION(name)                                                                             \
  ".text\n\t.p2align 4\n\t.globl " name "\n\t.hidden " name "\n\t.type " name ", @function\n" name \
  ":\n\t"
#define END(name) "\n\t.size " name ", . - " name "\n"

__asm__(FUNCTION("assembly_switch_stack") ".cfi_startproc\n\t"
                                          "pushq %rbp\n\t"
                                          ".cfi_def_cfa_offset 16\n\t"
                                          ".cfi_offset %rbp, -16\n\t"
                                          "movq %rsp, %rbp\n\t"
                                          ".cfi_def_cfa_register %rbp\n\t"
                                          "movq %rdi, %rax\n\t"
                                          "movq %rsi, %rdi\n\t"
                                          "movq %rdx, %rsp\n\t"
                                          "andq $-16, %rsp\n\t"
                                          "call *%rax\n\t"
                                          "movq %rbp, %rsp\n\t"
                                          "popq %rbp\n\t"
                                          ".cfi_def_cfa %rsp, 8\n\t"
                                          "ret\n\t"
                                          ".cfi_endproc" END("assembly_switch_stack"));

/* No padding between the two: what follows the first is the second. */
__asm__(FUNCTION("assembly_before_trap") ".cfi_startproc\n\t"
                                         ".cfi_def_cfa_offset 4096\n\t"
                                         ".skip 16, 0x90\n\t"
                                         ".cfi_endproc" END("assembly_before_trap"));
__asm__(FUNCTION("assembly_trap") ".cfi_startproc\n\t"
                                  "ud2\n\t"
                                  "ret\n\t"
                                  ".cfi_endproc" END("assembly_trap"));

__asm__(FUNCTION("assembly_trap_without_rule") "ud2\n\t"
                                               "ret" END("assembly_trap_without_rule"));

__asm__(FUNCTION("assembly_call_without_rule") "pushq %rbp\n\t"
                                               "movq %rsp, %rbp\n\t"
                                               "movq %rdi, %rax\n\t"
                                               "movq %rsi, %rdi\n\t"
                                               "call *%rax\n\t"
                                               "popq %rbp\n\t"
                                               "ret" END("assembly_call_without_rule"));

__asm__(FUNCTION("assembly_clone") ".cfi_startproc\n\t"
                                   "movq %rcx, %r10\n\t"
                                   "movl $56, %eax\n\t"
                                   "syscall\n\t"
                                   "testq %rax, %rax\n\t"
                                   "jz 1f\n\t"
                                   "ret\n"
                                   "1:\tpopq %rax\n\t"
                                   "popq %rdi\n\t"
                                   "jmp *%rax\n\t"
                                   ".cfi_endproc" END("assembly_clone"));

__asm__(".section .rodata\n\t"
        ".globl assembly_with_frame, assembly_with_frame_end\n\t"
        ".hidden assembly_with_frame, assembly_with_frame_end\n"
        "assembly_with_frame:\n\t"
        "pushq %rbp\n\t"
        "movq %rsp, %rbp\n\t"
        "movq %rdi, %rax\n\t"
        "movq %rsi, %rdi\n\t"
        "call *%rax\n\t"
        "popq %rbp\n\t"
        "ret\n"
        "assembly_with_frame_end:\n\t"
        ".globl assembly_without_frame, assembly_without_frame_end\n\t"
        ".hidden assembly_without_frame, assembly_without_frame_end\n"
        "assembly_without_frame:\n\t"
        "subq $24, %rsp\n\t"
        "movq %rdi, %rax\n\t"
        "movq %rsi, %rdi\n\t"
        "call *%rax\n\t"
        "addq $24, %rsp\n\t"
        "ret\n"
        "assembly_without_frame_end:\n\t"
        ".text");
