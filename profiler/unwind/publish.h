#ifndef UNWIND_PUBLISH_H
#define UNWIND_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot.h"

/* One caller at a time, an ordinary thread: the writer's side of snapshot.h. */

/* A snapshot with room for `count` regions, or NULL. */
struct snapshot *snapshot_create(size_t count);

/* The snapshot in force, for the writer, who need not hold it. */
const struct snapshot *publish_current(void);

/* Puts a snapshot, owned from now on, in force; the one before it is retired. Takes NULL. */
void publish(struct snapshot *snapshot);

/* Takes a mapping that the snapshot in force does not lead to, and frees it when no walk can read
 * it. */
void publish_retire(struct retired *block);

/*
 * Frees what was retired, when the walks that may read it end within a few
 * milliseconds; else leaves it for the next call. Returns whether nothing is left.
 */
bool publish_reclaim(void);

/* Frees it all, when no walk can run any more. */
void publish_release(void);

#endif
