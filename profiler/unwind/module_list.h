#ifndef UNWIND_MODULE_LIST_H
#define UNWIND_MODULE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "code_table.h"
#include "memory_map.h"
#include "objects.h"
#include "unwind/modules.h"

/*
 * The modules behind modules.h with what only refresh.c needs. An object that was
 * unloaded and comes back the same at the same place gets its number again.
 */
struct module_entry {
  struct module module; /* first member: what module_at() gives out */
  char *loader_name;
  uint64_t frames_hash;     /* of .eh_frame, where there is no build id: see module_list_find() */
  struct code_table *table; /* owned while the object is loaded; NULL: none */
  uint64_t seen;            /* the refresh that saw it loaded last */
};

/*
 * The entry of an object, loaded or not, or NULL. Of an object without a build id
 * `frames_hash` must be its section's, since another file may have come in the place
 * of one with the same name.
 */
struct module_entry *module_list_find(const struct object *object, const char *name,
                                      uint64_t frames_hash);

/* Enters an object, whose path the map knows. NULL when memory ran out or there are too many. */
struct module_entry *module_list_add(const struct object *object, const char *name,
                                     uint64_t frames_hash, const struct memory_map *map);

/* Whether as many as allowed were entered: later objects stay unknown. */
bool module_list_is_full(void);

uint32_t module_list_count(void);
struct module_entry *module_list_at(uint32_t number);

size_t module_list_bytes(void);

void module_list_release(void);

#endif
