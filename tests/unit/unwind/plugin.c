#include "plugin.h"

/*
 * Compiled with frames of PLUGIN_WORDS words: two such files differ in their rules and not in
 * the size of their code.
 */
#define KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

int plugin_add(int a, int b) {
  int numbers[2 * PLUGIN_WORDS];
  numbers[0] = a;
  KEEP(numbers);
  return numbers[0] + b;
}

long plugin_call(long (*callback)(void *), void *context) {
  long numbers[PLUGIN_WORDS];
  numbers[0] = callback(context);
  KEEP(numbers);
  return numbers[0] + 1;
}
