#ifndef SAMPLER_CPU_HANDLER_H
#define SAMPLER_CPU_HANDLER_H

#include <signal.h>
#include <stdbool.h>

/*
 * Records the sample that a SIGPROF stands for. False: the signal is not one of
 * Folio's timers. Keeps errno. Async-signal-safe.
 */
bool cpu_handle(const siginfo_t *info, const void *context);

#endif
