#include "pages.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 * 1024)

/* Statistics alone: relaxed. */
static atomic_size_t held;

static size_t round_up(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

void *pages_map(size_t bytes) {
  if (bytes == 0 || bytes > PTRDIFF_MAX)
    return NULL;
  void *pages =
      mmap(NULL, round_up(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return NULL;
  atomic_fetch_add_explicit(&held, round_up(bytes), memory_order_relaxed);
  return pages;
}

void pages_unmap(void *pages, size_t bytes) {
  if (pages == NULL)
    return;
  munmap(pages, round_up(bytes));
  atomic_fetch_sub_explicit(&held, round_up(bytes), memory_order_relaxed);
}

size_t pages_held(void) {
  return atomic_load_explicit(&held, memory_order_relaxed);
}

/* Makes room for `bytes` in all. */
static int reserve(struct page_buffer *buffer, size_t bytes) {
  size_t wanted = buffer->mapped == 0 ? FIRST_BYTES : buffer->mapped * 2;
  if (wanted < bytes)
    wanted = bytes;
  void *data = buffer->data == NULL ? pages_map(wanted)
                                    : mremap(buffer->data, round_up(buffer->mapped),
                                             round_up(wanted), MREMAP_MAYMOVE);
  if (data == NULL || data == MAP_FAILED)
    return -1;
  if (buffer->data != NULL)
    atomic_fetch_add_explicit(&held, round_up(wanted) - round_up(buffer->mapped),
                              memory_order_relaxed);
  buffer->data = data;
  buffer->mapped = wanted;
  return 0;
}

void *page_buffer_add(struct page_buffer *buffer, size_t bytes) {
  if (bytes > PTRDIFF_MAX / 4 - buffer->bytes)
    return NULL;
  if (bytes > buffer->mapped - buffer->bytes && reserve(buffer, buffer->bytes + bytes) != 0)
    return NULL;
  void *added = buffer->data + buffer->bytes;
  buffer->bytes += bytes;
  return added;
}

void page_buffer_cut(struct page_buffer *buffer, size_t bytes) {
  assert(bytes <= buffer->bytes);
  buffer->bytes = bytes;
}

void page_buffer_free(struct page_buffer *buffer) {
  pages_unmap(buffer->data, buffer->mapped);
  *buffer = (struct page_buffer){0};
}
