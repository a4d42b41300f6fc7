#ifndef HTTP_INDEX_PAGE_H
#define HTTP_INDEX_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The page that lists the profiles, as malloc()ed bytes of *out_length; NULL when memory ran
 * out. Without `heap_on` it says that `heap_switch` switches heap profiles on.
 */
char *index_page(bool heap_on, const char *heap_switch, size_t *out_length);

#endif
