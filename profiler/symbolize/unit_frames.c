#include "unit_frames.h"

#include <dwarf.h>

/* The child that holds the address and may hold inlined functions. */
static bool child_at(Dwarf_Die *parent, uint64_t address, Dwarf_Die *out) {
  if (dwarf_child(parent, out) != 0)
    return false;
  do {
    int tag = dwarf_tag(out);
    if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
         tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
        dwarf_haspc(out, address) == 1)
      return true;
  } while (dwarf_siblingof(out, out) == 0);
  return false;
}

bool unit_chain_find(struct unit *unit, uint64_t address, struct unit_chain *out) {
  const struct interval *function = interval_table_find(&unit->functions, address);
  if (function == NULL)
    return false;
  const Dwarf_Die *outermost = function->value;
  Dwarf_Die die = *outermost;
  out->dies[0] = die;
  out->count = 1;
  Dwarf_Die child;
  while (out->count < UNIT_MAX_FRAMES && child_at(&die, address, &child)) {
    die = child;
    if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
      out->dies[out->count++] = die;
  }
  return true;
}

bool unit_line(struct unit *unit, uint64_t address, const char **out_file, int64_t *out_line) {
  Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
  int number = 0;
  if (line == NULL || dwarf_lineno(line, &number) != 0)
    return false;
  *out_file = dwarf_linesrc(line, NULL, NULL);
  *out_line = number;
  return true;
}

static uint64_t number_attribute(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &value) != 0)
    return 0;
  return value;
}

void unit_call_site(struct unit *unit, Dwarf_Die *inlined, const char **out_file,
                    int64_t *out_line) {
  Dwarf_Files *files;
  size_t count;
  uint64_t file = number_attribute(inlined, DW_AT_call_file);
  *out_file = NULL;
  *out_line = (int64_t)number_attribute(inlined, DW_AT_call_line);
  /* Before version 5 files count from 1. */
  if (dwarf_getsrcfiles(&unit->tree, &files, &count) == 0 && file < count &&
      (file > 0 || unit->is_version_5))
    *out_file = dwarf_filesrc(files, file, NULL, NULL);
}
