#ifndef APP_PROFILING_H
#define APP_PROFILING_H

#include "app/error.h"
#include "app/flags.h"
#include "app/log.h"

/*
 * The program's own profiles: all types that the flags ask for (CPU always) share
 * windows of ten seconds, back to back. Each window's profiles become files.
 */
struct profiling;

/*
 * Starts the profiler, serves its pages where -http asks for it, and begins the first window.
 * `flags` and `log` are borrowed. Returns 0 and an owned object, or -1 and fills *error. Before
 * other threads exist, so that the profiler knows them from their start.
 */
int profiling_start(const struct flags *flags, struct log *log, struct profiling **out,
                    struct app_error *error);

/* Stores what the window holds so far, stops, and says where the profiles are. Takes NULL. */
void profiling_stop(struct profiling *profiling);

#endif
