#ifndef UNWIND_PAGES_H
#define UNWIND_PAGES_H

#include <stddef.h>

/*
 * Memory straight from the kernel. The tables are built while the loader's lock is
 * held or while malloc is hooked by our own profiler, so malloc is not asked. All of
 * it is counted.
 */

/* Zeroed pages for at least `bytes`, or NULL. */
void *pages_map(size_t bytes);

/* `bytes` as they were given to pages_map(). Takes NULL. */
void pages_unmap(void *pages, size_t bytes);

/* Bytes of all mapped pages. Any thread. */
size_t pages_held(void);

/*
 * A buffer that grows at its end and may move when it does. Zero-initialized it is
 * empty.
 */
struct page_buffer {
  unsigned char *data;
  size_t bytes;  /* in use */
  size_t mapped; /* behind `data` */
};

/* Appends `bytes` bytes, with any contents, and returns where they begin, or NULL. */
void *page_buffer_add(struct page_buffer *buffer, size_t bytes);

/* Cuts the buffer to `bytes`; what is mapped stays for later use. */
void page_buffer_cut(struct page_buffer *buffer, size_t bytes);

void page_buffer_free(struct page_buffer *buffer);

#endif
