#include "live_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/live.h"

struct object {
  uint64_t serial; /* 0: free place */
  uint64_t size;
  uint32_t bucket;
  bool alive; /* seen in the live map by the sum under way */
};

/* An open hash table that is swept and rebuilt when it is half full. */
struct live_index {
  struct object *objects;
  size_t size; /* a power of two */
  size_t count;
};

struct live_index *live_index_create(void) {
  struct live_index *index = calloc(1, sizeof(*index));
  if (index == NULL)
    return NULL;
  index->size = 4096;
  index->objects = calloc(index->size, sizeof(*index->objects));
  if (index->objects == NULL) {
    free(index);
    return NULL;
  }
  return index;
}

void live_index_destroy(struct live_index *index) {
  if (index == NULL)
    return;
  free(index->objects);
  free(index);
}

static struct object *place_of(struct object *objects, size_t size, uint64_t serial) {
  size_t place = (size_t)(serial * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (size - 1);
  while (objects[place].serial != 0 && objects[place].serial != serial)
    place = (place + 1) & (size - 1);
  return &objects[place];
}

static void mark(void *context, uint64_t serial) {
  struct live_index *index = context;
  struct object *object = place_of(index->objects, index->size, serial);
  if (object->serial == serial)
    object->alive = true;
}

/* Moves the living to a new table that they fill to a quarter at most. */
static int sweep(struct live_index *index) {
  live_visit(mark, index);
  size_t living = 0;
  for (size_t i = 0; i < index->size; i++)
    living += index->objects[i].alive;
  size_t size = 4096;
  while (size < living * 4)
    size *= 2;
  struct object *objects = calloc(size, sizeof(*objects));
  if (objects == NULL) {
    for (size_t i = 0; i < index->size; i++)
      index->objects[i].alive = false;
    return -1;
  }
  for (size_t i = 0; i < index->size; i++) {
    struct object *object = &index->objects[i];
    if (!object->alive)
      continue;
    object->alive = false;
    *place_of(objects, size, object->serial) = *object;
  }
  free(index->objects);
  index->objects = objects;
  index->size = size;
  index->count = living;
  return 0;
}

int live_index_add(struct live_index *index, uint64_t serial, uint32_t bucket, uint64_t size) {
  if (index->count * 2 >= index->size && sweep(index) != 0)
    return -1;
  *place_of(index->objects, index->size, serial) =
      (struct object){.serial = serial, .size = size, .bucket = bucket};
  index->count++;
  return 0;
}

void live_index_sum(struct live_index *index,
                    void (*visit)(void *context, uint32_t bucket, uint64_t size), void *context) {
  live_visit(mark, index);
  for (size_t i = 0; i < index->size; i++) {
    struct object *object = &index->objects[i];
    if (object->alive)
      visit(context, object->bucket, object->size);
    object->alive = false;
  }
}

size_t live_index_bytes(const struct live_index *index) {
  return index->size * sizeof(*index->objects);
}
