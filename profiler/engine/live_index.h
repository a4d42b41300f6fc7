#ifndef ENGINE_LIVE_INDEX_H
#define ENGINE_LIVE_INDEX_H

#include <stddef.h>
#include <stdint.h>

/*
 * The reader's side of the live map: which bucket a sampled object that is not freed yet
 * belongs to. Frees are not told: what the live map no longer holds is swept out when room
 * is needed. Not synchronized.
 */
struct live_index;

struct live_index *live_index_create(void);

/* Takes NULL. */
void live_index_destroy(struct live_index *index);

/* Notes an object. 0, or -1 when memory ran out. */
int live_index_add(struct live_index *index, uint64_t serial, uint32_t bucket, uint64_t size);

/* Calls `visit` with the bucket and the size of each object that is alive. */
void live_index_sum(struct live_index *index,
                    void (*visit)(void *context, uint32_t bucket, uint64_t size), void *context);

size_t live_index_bytes(const struct live_index *index);

#endif
