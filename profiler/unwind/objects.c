#include "objects.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cursor.h"

enum {
  MAX_FRAMES_HEADER_BYTES = 32,
  MAX_NOTE_BYTES = 64 * 1024,
  MAX_VDSO_HEADER_BYTES = 4096,
};

typedef ElfW(Phdr) program_header;

/* A search for one object's section. */
struct frames_copy {
  const struct object *object;
  struct page_buffer *buffer;
  bool is_copied;
};

/*
 * Copies memory of an object. The kernel does it, since it answers what would be a fault
 * with an error: of a page that the program unmapped or protected, or whose file was
 * cut short by an upgrade in place. Where it may not, memcpy has to do.
 */
static bool copy(void *to, uintptr_t from, size_t bytes) {
  struct iovec local = {.iov_base = to, .iov_len = bytes};
  struct iovec remote = {.iov_base = (void *)from, .iov_len = bytes};
  ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (copied < 0 && (errno == ENOSYS || errno == EPERM)) {
    memcpy(to, (const void *)from, bytes);
    return true;
  }
  return copied == (ssize_t)bytes;
}

/* How many bytes of the file's image lie from `address` to the end of its segment. */
static size_t bytes_from(const struct dl_phdr_info *info, uintptr_t address) {
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const program_header *header = &info->dlpi_phdr[i];
    uintptr_t offset = address - info->dlpi_addr - header->p_vaddr;
    if (header->p_type == PT_LOAD && (header->p_flags & PF_R) != 0 && offset < header->p_filesz)
      return header->p_filesz - offset;
  }
  return 0;
}

static bool find_code(const struct dl_phdr_info *info, struct object *object) {
  object->start = UINTPTR_MAX;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const program_header *header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0 || header->p_memsz == 0)
      continue;
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (start < object->start) {
      object->start = start;
      object->file_offset = header->p_offset;
    }
    if (start + header->p_memsz > object->end)
      object->end = start + header->p_memsz;
  }
  return object->start < object->end;
}

/* Takes the build id from a segment of notes, whose parts are padded to `align`. */
static void scan_notes(const unsigned char *bytes, size_t size, uint64_t align,
                       struct object *object) {
  struct cursor at = {.begin = bytes, .at = bytes, .end = bytes + size};
  while (!at.failed && at.at < at.end) {
    uint64_t name_bytes = cursor_number(&at, 4);
    uint64_t value_bytes = cursor_number(&at, 4);
    uint64_t type = cursor_number(&at, 4);
    struct cursor name = cursor_part(&at, (name_bytes + 3) / 4 * 4);
    struct cursor value = cursor_part(&at, (value_bytes + align - 1) / align * align);
    if (at.failed || type != NT_GNU_BUILD_ID || name_bytes != sizeof("GNU") ||
        memcmp(name.at, "GNU", sizeof("GNU")) != 0 || value_bytes > BUILD_ID_MAX_BYTES)
      continue;
    memcpy(object->build_id, value.at, value_bytes);
    object->build_id_bytes = (size_t)value_bytes;
    return;
  }
}

/* Returns -1 when memory ran out. */
static int find_build_id(const struct dl_phdr_info *info, struct page_buffer *scratch,
                         struct object *object) {
  for (size_t i = 0; i < info->dlpi_phnum && object->build_id_bytes == 0; i++) {
    const program_header *header = &info->dlpi_phdr[i];
    uintptr_t address = info->dlpi_addr + header->p_vaddr;
    if (header->p_type != PT_NOTE || header->p_filesz == 0 || header->p_filesz > MAX_NOTE_BYTES ||
        bytes_from(info, address) < header->p_filesz)
      continue;
    size_t mark = scratch->bytes;
    unsigned char *notes = page_buffer_add(scratch, header->p_filesz);
    if (notes == NULL)
      return -1;
    if (copy(notes, address, header->p_filesz))
      scan_notes(notes, header->p_filesz, header->p_align == 8 ? 8 : 4, object);
    page_buffer_cut(scratch, mark);
  }
  return 0;
}

/* Reads .eh_frame_hdr, which tells where .eh_frame is and how many functions it has. */
static void find_frames(const struct dl_phdr_info *info, struct object *object) {
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const program_header *header = &info->dlpi_phdr[i];
    unsigned char bytes[MAX_FRAMES_HEADER_BYTES];
    uintptr_t address = info->dlpi_addr + header->p_vaddr;
    size_t size = header->p_filesz < sizeof(bytes) ? header->p_filesz : sizeof(bytes);
    if (header->p_type != PT_GNU_EH_FRAME || bytes_from(info, address) < size ||
        !copy(bytes, address, size))
      continue;

    struct cursor at = {.begin = bytes, .at = bytes, .end = bytes + size, .address = address};
    uint64_t version = cursor_byte(&at);
    uint8_t frames_encoding = cursor_byte(&at);
    uint8_t count_encoding = cursor_byte(&at);
    cursor_byte(&at); /* the encoding of a table that we do not use */
    uintptr_t frames = cursor_pointer(&at, frames_encoding, address);
    if (version != 1 || at.failed)
      return;
    object->max_frames_bytes = bytes_from(info, frames);
    object->frames = object->max_frames_bytes == 0 ? 0 : frames;
    object->max_frames = cursor_plain(&at, count_encoding);
    if (count_encoding == POINTER_OMITTED || at.failed)
      object->max_frames = UINT64_MAX;
    return;
  }
}

static int copy_name(struct page_buffer *bytes, const char *name, struct object *object) {
  size_t size = name == NULL ? 1 : strlen(name) + 1;
  char *to = page_buffer_add(bytes, size);
  if (to == NULL)
    return -1;
  object->name_at = (size_t)((unsigned char *)to - bytes->data);
  memcpy(to, name == NULL ? "" : name, size);
  return 0;
}

static bool is_vdso(const struct dl_phdr_info *info) {
  uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
  uintptr_t headers = (uintptr_t)info->dlpi_phdr;
  return vdso != 0 && headers >= vdso && headers - vdso < MAX_VDSO_HEADER_BYTES;
}

static int add_object(const struct dl_phdr_info *info, struct object_list *list) {
  bool is_first = list->names.bytes == 0;
  struct object object = {.bias = info->dlpi_addr, .is_main = is_first, .is_vdso = is_vdso(info)};
  if (copy_name(&list->names, info->dlpi_name, &object) != 0)
    return -1;
  if (!find_code(info, &object))
    return 0;
  find_frames(info, &object);
  if (find_build_id(info, &list->names, &object) != 0)
    return -1;
  struct object *to = page_buffer_add(&list->objects, sizeof(object));
  if (to == NULL)
    return -1;
  *to = object;
  return 0;
}

/* These are called by dl_iterate_phdr(), which they end by another result than 0. */
static int visit(struct dl_phdr_info *info, size_t size, void *argument) {
  struct object_list *list = argument;
  (void)size;
  list->loads = info->dlpi_adds;
  list->unloads = info->dlpi_subs;
  return add_object(info, list);
}

static int visit_to_copy(struct dl_phdr_info *info, size_t size, void *argument) {
  struct frames_copy *search = argument;
  const struct object *object = search->object;
  struct object found = {0};
  (void)size;
  if (info->dlpi_addr != object->bias || !find_code(info, &found) || found.start != object->start ||
      found.end != object->end || bytes_from(info, object->frames) != object->max_frames_bytes)
    return 0;
  search->is_copied = copy(search->buffer->data, object->frames, object->max_frames_bytes);
  return 1;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *argument) {
  uint64_t *counts = argument;
  (void)size;
  counts[0] = info->dlpi_adds;
  counts[1] = info->dlpi_subs;
  return 1;
}

int object_list_read(struct object_list *list) {
  *list = (struct object_list){0};
  return dl_iterate_phdr(visit, list);
}

size_t object_list_count(const struct object_list *list) {
  return list->objects.bytes / sizeof(struct object);
}

const struct object *object_list_at(const struct object_list *list, size_t index) {
  return (const struct object *)(const void *)list->objects.data + index;
}

const char *object_list_name(const struct object_list *list, const struct object *object) {
  return (const char *)list->names.data + object->name_at;
}

void object_list_free(struct object_list *list) {
  page_buffer_free(&list->objects);
  page_buffer_free(&list->names);
}

int object_copy_frames(const struct object *object, struct page_buffer *buffer,
                       struct eh_frame *out) {
  *out = (struct eh_frame){.address = object->frames, .max_frames = object->max_frames};
  if (object->frames == 0)
    return 0;
  page_buffer_cut(buffer, 0);
  if (page_buffer_add(buffer, object->max_frames_bytes) == NULL)
    return -1;
  struct frames_copy search = {.object = object, .buffer = buffer};
  dl_iterate_phdr(visit_to_copy, &search);
  out->bytes = buffer->data;
  out->size = search.is_copied ? object->max_frames_bytes : 0;
  return 0;
}

void object_counts(uint64_t *out_loads, uint64_t *out_unloads) {
  uint64_t counts[2] = {0};
  dl_iterate_phdr(read_counts, counts);
  *out_loads = counts[0];
  *out_unloads = counts[1];
}
