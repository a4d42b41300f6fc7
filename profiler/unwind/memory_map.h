#ifndef UNWIND_MEMORY_MAP_H
#define UNWIND_MEMORY_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "pages.h"

/* The text of /proc/self/maps, which knows the true path of what is mapped. */
struct memory_map {
  struct page_buffer text; /* ends with a NUL; empty where it could not be read */
};

/* An ordinary thread. */
void memory_map_read(struct memory_map *map);

/* The path mapped at the address, with its length, borrowed from the map; NULL when there is none.
 */
const char *memory_map_path(const struct memory_map *map, uintptr_t address, size_t *out_length);

void memory_map_free(struct memory_map *map);

#endif
