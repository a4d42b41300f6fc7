#ifndef SYMBOLIZE_OOM_GUARD_H
#define SYMBOLIZE_OOM_GUARD_H

#include <elfutils/libdw.h>

/*
 * libdw ends the process when it runs out of memory. Inside a guard it ends the
 * guarded call instead: whatever that call had allocated itself and not yet stored
 * is lost, libdw's own memory is freed with its Dwarf. Since libdw 0.188 does not check each
 * of its small allocations (those of an abbreviation table), a guard also asks
 * for a large piece first, and does nothing when there is none.
 */

/* Makes running out of memory in this Dwarf safe inside a guard. */
void oom_guard_attach(Dwarf *dwarf);

enum oom_guard_result {
  OOM_GUARD_DONE,
  OOM_GUARD_NOT_RUN, /* memory was short before */
  OOM_GUARD_BROKEN,  /* it ran out in libdw: what the call was at may be half done */
};

enum oom_guard_result oom_guard_run(void (*call)(void *), void *argument);

#endif
