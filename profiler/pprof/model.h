#ifndef PPROF_MODEL_H
#define PPROF_MODEL_H

#include "arena.h"
#include "message.h"
#include "pprof/profile.h"

/*
 * Turns a decoded message into a profile, in the same arena, which must outlive it.
 * The message's strings and numbers are shared with it. Returns 0, or -1 and the
 * first thing that has no meaning: an identifier that is 0 or twice there, a
 * reference to nothing, a sample with too few or too many values.
 */
int model_create(const Perftools__Profiles__Profile *message,
                 const struct message_findings *findings, struct pprof_arena *arena,
                 struct pprof_profile *out, struct pprof_error *error);

#endif
