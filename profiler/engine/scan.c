/* Finds the process's threads, however they came to be, and keeps their timers in step. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine.h"
#include "sampler/cpu.h"
#include "sampler/sampler.h"
#include "sampler/threads.h"

static void see_thread(int tid) {
  struct thread_slot *slot = thread_slot_of(tid);
  if (slot == NULL) {
    sampler_count(&sampler.lost_no_thread);
    return;
  }
  slot->scan = engine.scan;
  if (engine.cpu_sessions == 0 || atomic_load_explicit(&slot->internal, memory_order_relaxed))
    return;
  if (cpu_timer_dead(slot)) /* the id came back as another thread's */
    cpu_disarm(slot);
  if (cpu_arm(slot) != 0 && errno != ESRCH)
    engine.threads_unarmed++;
}

/* A slot is free again a scan after its thread ended (threads.c says why). */
static void take_back(struct thread_slot *slot) {
  int tid = atomic_load_explicit(&slot->tid, memory_order_acquire);
  if (tid == 0 || slot->scan == engine.scan)
    return;
  if (tid == TID_ENDED) {
    for (int i = 0; i < LABELS_MAX; i++)
      atomic_store_explicit(&slot->labels[i], 0, memory_order_relaxed);
    atomic_store_explicit(&slot->internal, false, memory_order_relaxed);
    slot->stack = (struct unwind_stack){0, 0};
    atomic_store_explicit(&slot->tid, 0, memory_order_release);
    return;
  }
  if (cpu_thread_time_ns(tid) >= 0) /* it started after the folder was read */
    return;
  cpu_disarm(slot);
  atomic_store_explicit(&slot->tid, TID_ENDED, memory_order_release);
}

void engine_scan_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL)
    return;
  engine.scan++;
  for (struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
    if (entry->d_name[0] != '.')
      see_thread((int)strtol(entry->d_name, NULL, 10));
  }
  closedir(tasks);
  for (uint32_t i = 0; i < thread_slot_count(); i++)
    take_back(thread_slot_at(i));
}

void engine_disarm_threads(void) {
  for (uint32_t i = 0; i < thread_slot_count(); i++)
    cpu_disarm(thread_slot_at(i));
}
