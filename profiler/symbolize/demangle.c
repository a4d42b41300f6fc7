#include "demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The demangler keeps about 70 bytes of stack for each byte of the name: this is
 * some 300 KiB. A longer name stays as it is.
 */
#define MAX_MANGLED_BYTES 4096

typedef char *demangler(const char *mangled, char *buffer, size_t *length, int *status);

static demangler *found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * Not linked, so that a C program gets no C++ runtime through us. In a process with
 * C++ code libstdc++ or libc++abi is loaded already; it is loaded here only when
 * the first C++ name is of code that brought its own copy, or is of another process.
 */
static void find_demangler(void) {
  void *symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
  if (symbol == NULL) {
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library != NULL)
      symbol = dlsym(library, "__cxa_demangle");
  }
  memcpy(&found, &symbol, sizeof(found));
}

char *demangle(const char *mangled) {
  int status;
  if (strncmp(mangled, "_Z", 2) != 0 || strnlen(mangled, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
    return NULL;
  pthread_once(&once, find_demangler);
  return found != NULL ? found(mangled, NULL, NULL, &status) : NULL;
}
