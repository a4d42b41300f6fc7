#include "support.h"

#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <elfutils/libdwelf.h>

static Elf *open_elf(const char *path, int *out_fd) {
  elf_version(EV_CURRENT);
  *out_fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*out_fd < 0)
    fail_msg("%s cannot be opened", path);
  Elf *elf = elf_begin(*out_fd, ELF_C_READ, NULL);
  assert_non_null(elf);
  return elf;
}

static int find_symbol(Elf *elf, const char *name, struct fixture_symbol *out) {
  Elf_Scn *section = NULL;
  while ((section = elf_nextscn(elf, section)) != NULL) {
    GElf_Shdr header;
    GElf_Sym symbol;
    gelf_getshdr(section, &header);
    if (header.sh_type != SHT_SYMTAB)
      continue;
    Elf_Data *data = elf_getdata(section, NULL);
    for (int i = 0; gelf_getsym(data, i, &symbol) != NULL; i++) {
      if (strcmp(elf_strptr(elf, header.sh_link, symbol.st_name), name) == 0) {
        out->start = symbol.st_value;
        out->end = symbol.st_value + symbol.st_size;
        return 1;
      }
    }
  }
  return 0;
}

struct fixture_symbol fixture_symbol(const char *path, const char *name) {
  int fd;
  struct fixture_symbol symbol;
  Elf *elf = open_elf(path, &fd);
  if (!find_symbol(elf, name, &symbol))
    fail_msg("%s has no symbol %s", path, name);
  elf_end(elf);
  close(fd);
  return symbol;
}

void fixture_build_id(const char *path, char out[129]) {
  int fd;
  const void *bits;
  Elf *elf = open_elf(path, &fd);
  ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
  out[0] = '\0';
  for (ssize_t i = 0; i < size && i < 64; i++)
    snprintf(out + 2 * i, 3, "%02x", ((const unsigned char *)bits)[i]);
  elf_end(elf);
  close(fd);
}

int64_t fixture_line(const char *source, const char *text) {
  char path[512];
  char *line = NULL;
  size_t size = 0;
  int64_t number = 0;
  snprintf(path, sizeof(path), "%s/%s", FIXTURE_SOURCES, source);
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  do {
    if (getline(&line, &size, file) < 0)
      fail_msg("%s has no line with %s", path, text);
    number++;
  } while (strstr(line, text) == NULL);
  free(line);
  fclose(file);
  return number;
}

void copy_file(const char *from, const char *to) {
  char buffer[65536];
  ssize_t got;
  int in = open(from, O_RDONLY | O_CLOEXEC);
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
  if (in < 0 || out < 0)
    fail_msg("cannot copy %s to %s", from, to);
  assert_int_equal(fchmod(out, 0700), 0);
  while ((got = read(in, buffer, sizeof(buffer))) > 0)
    assert_int_equal(write(out, buffer, (size_t)got), got);
  assert_int_equal(got, 0);
  close(in);
  close(out);
}

void assert_ends_with(const char *text, const char *end) {
  size_t length = strlen(text);
  size_t end_length = strlen(end);
  if (length < end_length || strcmp(text + length - end_length, end) != 0)
    fail_msg("\"%s\" does not end with \"%s\"", text, end);
}

void assert_frames(const struct symbol *symbol, const char *source,
                   const struct expected_frame *frames, size_t count) {
  assert_true(symbol->known);
  for (size_t i = 0; i < count && i < symbol->line_count; i++) {
    const struct symbol_line *line = &symbol->lines[i];
    assert_string_equal(line->name, frames[i].name);
    if (frames[i].linkage != NULL)
      assert_string_equal(line->linkage, frames[i].linkage);
    if (frames[i].line_text == NULL) {
      assert_string_equal(line->file, "");
      assert_int_equal(line->line, 0);
    } else {
      assert_ends_with(line->file, source);
      assert_int_equal(line->line, fixture_line(source, frames[i].line_text));
    }
    assert_int_equal(line->start_line,
                     frames[i].start_text != NULL ? fixture_line(source, frames[i].start_text) : 0);
  }
  assert_int_equal(symbol->line_count, count);
}

void assert_unknown(const struct symbol *symbol, const char *name) {
  assert_int_equal(symbol->line_count, 1);
  assert_string_equal(symbol->lines[0].name, name);
  assert_string_equal(symbol->lines[0].linkage, name);
  assert_string_equal(symbol->lines[0].file, "");
  assert_int_equal(symbol->lines[0].line, 0);
  assert_int_equal(symbol->lines[0].start_line, 0);
  assert_false(symbol->known);
}
