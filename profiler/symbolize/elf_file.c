#include "elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

bool elf_file_open(const char *path, struct elf_file *out) {
  struct stat status;
  struct elf_file file = {.fd_open = true};
  /* Not to wait for the other end of a pipe. */
  file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.fd < 0)
    return false;
  if (fstat(file.fd, &status) == 0 && S_ISREG(status.st_mode))
    file.elf = elf_begin(file.fd, ELF_C_READ_MMAP, NULL);
  file.path = strdup(path);
  if (file.path == NULL || file.elf == NULL || elf_kind(file.elf) != ELF_K_ELF) {
    elf_file_close(&file);
    return false;
  }
  *out = file;
  return true;
}

bool elf_file_open_memory(const void *image, size_t size, struct elf_file *out) {
  struct elf_file file = {.memory = malloc(size)};
  if (file.memory == NULL)
    return false;
  memcpy(file.memory, image, size);
  file.elf = elf_memory(file.memory, size);
  if (file.elf == NULL || elf_kind(file.elf) != ELF_K_ELF) {
    elf_file_close(&file);
    return false;
  }
  *out = file;
  return true;
}

void elf_file_release_fd(struct elf_file *file) {
  if (!file->fd_open)
    return;
  elf_cntl(file->elf, ELF_C_FDREAD);
  close(file->fd);
  file->fd_open = false;
}

void elf_file_close(struct elf_file *file) {
  elf_end(file->elf);
  if (file->fd_open)
    close(file->fd);
  free(file->path);
  free(file->memory);
  *file = (struct elf_file){0};
}

void elf_file_build_id_text(const void *bits, size_t size, char out[BUILD_ID_TEXT_BYTES]) {
  out[0] = '\0';
  if (size > (BUILD_ID_TEXT_BYTES - 1) / 2)
    return;
  for (size_t i = 0; i < size; i++)
    snprintf(out + 2 * i, 3, "%02x", ((const unsigned char *)bits)[i]);
}

void elf_file_build_id(const struct elf_file *file, char out[BUILD_ID_TEXT_BYTES]) {
  const void *bits;
  ssize_t size = dwelf_elf_gnu_build_id(file->elf, &bits);
  elf_file_build_id_text(bits, size > 0 ? (size_t)size : 0, out);
}

bool elf_file_has_debug_data(const struct elf_file *file) {
  size_t names;
  Elf_Scn *section = NULL;
  if (elf_getshdrstrndx(file->elf, &names) != 0)
    return false;
  while ((section = elf_nextscn(file->elf, section)) != NULL) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
      continue;
    const char *name = elf_strptr(file->elf, names, header.sh_name);
    if (name != NULL && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
      return true;
  }
  return false;
}

void elf_file_code(const struct elf_file *file, struct interval_table *out) {
  Elf_Scn *section = NULL;
  while ((section = elf_nextscn(file->elf, section)) != NULL) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != NULL && (header.sh_flags & SHF_ALLOC) != 0 &&
        (header.sh_flags & SHF_EXECINSTR) != 0)
      interval_table_add(out, header.sh_addr, header.sh_addr + header.sh_size, 0, NULL);
  }
  interval_table_seal(out);
}
