#ifndef UNWIND_OBJECTS_H
#define UNWIND_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eh_frame.h"
#include "pages.h"

/* What the loader says of its objects, copied: nothing here goes away with an object. */

enum {
  BUILD_ID_MAX_BYTES = 32
};

/* An object with code. */
struct object {
  uintptr_t start, end; /* of its executable segments */
  uintptr_t bias;
  uint64_t file_offset; /* of the segment that holds `start` */
  bool is_main;
  bool is_vdso;
  size_t name_at; /* of the loader's name for it, in object_list.bytes */
  unsigned char build_id[BUILD_ID_MAX_BYTES];
  size_t build_id_bytes;
  uintptr_t frames; /* its .eh_frame; 0: none */
  size_t max_frames_bytes;
  uint64_t max_frames; /* see struct eh_frame */
};

struct object_list {
  struct page_buffer objects; /* struct object */
  struct page_buffer names;
  uint64_t loads, unloads; /* the loader's counts at that time */
};

/*
 * Reading holds the loader's lock, so that no object goes away meanwhile, and takes no
 * memory from malloc, since an allocator may call the loader under a lock of its own. All
 * functions are for ordinary threads.
 */

/* Lists the loaded objects in the loader's order. -1 when memory ran out; free it even so. */
int object_list_read(struct object_list *list);

size_t object_list_count(const struct object_list *list);
const struct object *object_list_at(const struct object_list *list, size_t index);

/* Borrowed from the list. */
const char *object_list_name(const struct object_list *list, const struct object *object);

void object_list_free(struct object_list *list);

/*
 * Copies an object's .eh_frame into a buffer, from its beginning. *out refers to the buffer;
 * its size is 0 where the object has none, is not loaded any more, or cannot be read.
 * -1 when memory ran out.
 */
int object_copy_frames(const struct object *object, struct page_buffer *buffer,
                       struct eh_frame *out);

/* The loader's counts of loads and unloads so far. Cheap. */
void object_counts(uint64_t *out_loads, uint64_t *out_unloads);

#endif
