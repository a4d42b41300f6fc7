#ifndef SAMPLER_CPU_H
#define SAMPLER_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/threads.h"

/*
 * CPU samples: each thread has a timer on its own CPU clock, whose signal (SIGPROF) the
 * thread itself receives. A sample weighs one tick and the ticks that the timer
 * overran since.
 */

/* Installs the handler of SIGPROF, once. 0, or -1 with errno. Ordinary threads. */
int cpu_install(void);

/* Sets the time between samples of a thread, in nanoseconds of its CPU time. Before cpu_arm(). */
void cpu_set_period(int64_t period_ns);

/*
 * Gives a thread its timer, with a first delay drawn from (0, period], unless it has one.
 * 0, or -1 with errno (ESRCH: it ended meanwhile). The reader, or the thread itself when
 * it starts while `cpu_running()`.
 */
int cpu_arm(struct thread_slot *slot);

/* Takes the timer away. */
void cpu_disarm(struct thread_slot *slot);

/* Whether timers are wanted: what a starting thread asks. */
bool cpu_running(void);
void cpu_set_running(bool running);

/* The CPU time a thread has used, in nanoseconds, or -1 when it ended. */
int64_t cpu_thread_time_ns(int tid);

/* Whether the thread of an armed timer has ended. */
bool cpu_timer_dead(struct thread_slot *slot);

#endif
