#include "sampler/thread_start.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sampler/cpu.h"
#include "sampler/threads.h"

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *argument);

/* What a new thread runs, and how large its stack is. */
struct beginning {
  void *(*start)(void *);
  void *argument;
  size_t stack_bytes;
};

static atomic_bool watching;

static create_function *real_create(void) {
  static _Atomic(create_function *) real;
  create_function *found = atomic_load_explicit(&real, memory_order_relaxed);
  if (found == NULL) {
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&found, &symbol, sizeof(found));
    atomic_store_explicit(&real, found, memory_order_relaxed);
  }
  return found;
}

static size_t stack_bytes_of(const pthread_attr_t *attributes) {
  size_t bytes = 0;
  if (attributes != NULL && pthread_attr_getstacksize(attributes, &bytes) == 0)
    return bytes;
  pthread_attr_t defaults;
  if (pthread_getattr_default_np(&defaults) == 0) {
    pthread_attr_getstacksize(&defaults, &bytes);
    pthread_attr_destroy(&defaults);
  }
  return bytes;
}

static void end_slot(void *argument) {
  cpu_disarm(argument);
}

/* glibc puts the thread's descriptor, which pthread_self() names, at the outer end of its stack. */
static struct thread_slot *begin_slot(size_t stack_bytes) {
  struct thread_slot *slot = thread_slot_own();
  if (slot == NULL)
    return NULL;
  uintptr_t high = (uintptr_t)pthread_self();
  slot->stack = (struct unwind_stack){.low = high - stack_bytes, .high = high};
  if (cpu_running())
    cpu_arm(slot);
  return slot;
}

static void *folio_thread_run(void *argument) {
  struct beginning beginning = *(struct beginning *)argument;
  free(argument);
  struct thread_slot *slot = begin_slot(beginning.stack_bytes);
  if (slot == NULL)
    return beginning.start(beginning.argument);
  void *result;
  pthread_cleanup_push(end_slot, slot);
  result = beginning.start(beginning.argument);
  pthread_cleanup_pop(1);
  return result;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *newthread,
                                                          const pthread_attr_t *attr,
                                                          void *(*start_routine)(void *),
                                                          void *arg) {
  create_function *create = real_create();
  if (!atomic_load_explicit(&watching, memory_order_relaxed))
    return create(newthread, attr, start_routine, arg);
  struct beginning *beginning = malloc(sizeof(*beginning));
  if (beginning == NULL)
    return EAGAIN;
  *beginning = (struct beginning){start_routine, arg, stack_bytes_of(attr)};
  int outcome = create(newthread, attr, folio_thread_run, beginning);
  if (outcome != 0)
    free(beginning);
  return outcome;
}

void thread_start_watch(void) {
  atomic_store_explicit(&watching, true, memory_order_relaxed);
}

/* The range of /proc/self/maps that is marked as the main thread's stack. */
void thread_start_note_main(void) {
  struct thread_slot *slot = thread_slot_of(getpid());
  FILE *maps = fopen("/proc/self/maps", "re");
  if (slot == NULL || maps == NULL)
    goto out;
  char line[512];
  while (fgets(line, sizeof(line), maps) != NULL) {
    if (strstr(line, "[stack]") == NULL)
      continue;
    char *rest;
    strtoull(line, &rest, 16);
    uintptr_t high = (uintptr_t)strtoull(rest + 1, NULL, 16);
    /* It grows down as it is used, by default to 8 MiB. */
    slot->stack = (struct unwind_stack){.low = high - (8UL << 20), .high = high};
  }
out:
  if (maps != NULL)
    fclose(maps);
}
