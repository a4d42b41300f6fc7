#ifndef SYMBOLIZE_OBJECT_H
#define SYMBOLIZE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/symbolize.h"

/* An object file with all that is known of its symbols. */
struct object;

/*
 * Opens the object's files, as far as there are any, and reads where its functions
 * lie. `debug_root` is the folder of separate debug files. NULL when memory ran out.
 */
struct object *object_open(const struct symbol_object *from, const char *debug_root);

/* Takes NULL. */
void object_close(struct object *object);

/* Whether any address of the object can have a name. */
bool object_has_symbols(const struct object *object);

/*
 * The functions at an address in the file, innermost first; how many, 0 when none
 * is known. Borrowed until the next search.
 */
size_t object_find(struct object *object, uint64_t address, const struct symbol_line **out);

#endif
