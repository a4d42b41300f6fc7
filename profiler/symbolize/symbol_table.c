#include "symbol_table.h"

#include <gelf.h>
#include <string.h>

/* A symbol's rank: its binding, and above it how many underscores it begins with. */
enum {
  BINDING_GLOBAL,
  BINDING_WEAK,
  BINDING_LOCAL,
  BINDINGS = 4,
  MAX_UNDERSCORES = 15,
};

static uint32_t rank_of(const GElf_Sym *symbol, const char *name) {
  uint32_t binding = BINDING_LOCAL;
  if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL)
    binding = BINDING_GLOBAL;
  else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
    binding = BINDING_WEAK;
  size_t underscores = strspn(name, "_");
  if (underscores > MAX_UNDERSCORES)
    underscores = MAX_UNDERSCORES;
  if (strncmp(name, "_Z", 2) == 0)
    underscores = 0;
  return (uint32_t)underscores * BINDINGS + binding;
}

static bool is_exported(const struct interval *symbol) {
  return symbol->rank % BINDINGS != BINDING_LOCAL;
}

static void add_symbol(const GElf_Sym *symbol, const char *name, const struct interval_table *code,
                       struct symbol_table *out) {
  const struct interval *section = interval_table_find(code, symbol->st_value);
  int type = GELF_ST_TYPE(symbol->st_info);
  bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  bool is_label = type == STT_NOTYPE || is_function;
  /* Names with a $ mark kinds of code on some machines. */
  if (section == NULL || symbol->st_shndx == SHN_UNDEF || *name == '\0' || *name == '$')
    return;
  if (is_function && symbol->st_size > 0) {
    interval_table_add(&out->sized, symbol->st_value, symbol->st_value + symbol->st_size,
                       rank_of(symbol, name), name);
  } else if (is_label) {
    interval_table_add(&out->unsized, symbol->st_value, section->end, rank_of(symbol, name), name);
  }
}

static void add_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                        const struct interval_table *code, struct symbol_table *out) {
  Elf_Data *data = elf_getdata(section, NULL);
  if (data == NULL || header->sh_entsize == 0)
    return;
  uint64_t count = header->sh_size / header->sh_entsize;
  for (uint64_t i = 0; i < count && i < INT32_MAX; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, (int)i, &symbol) == NULL)
      return;
    const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
    if (name != NULL)
      add_symbol(&symbol, name, code, out);
  }
}

bool symbol_table_load(const struct elf_file *file, enum symbol_table_kind kind,
                       const struct interval_table *code, struct symbol_table *out) {
  Elf_Scn *section = NULL;
  *out = (struct symbol_table){0};
  while ((section = elf_nextscn(file->elf, section)) != NULL) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != NULL &&
        header.sh_type == (kind == SYMBOL_TABLE_FULL ? SHT_SYMTAB : SHT_DYNSYM))
      add_symbols(file->elf, section, &header, code, out);
  }
  interval_table_seal(&out->sized);
  interval_table_seal(&out->unsized);
  /* With some missing, others would be taken for them. */
  if (out->sized.failed || out->unsized.failed)
    symbol_table_fini(out);
  return out->sized.count + out->unsized.count > 0;
}

void symbol_table_fini(struct symbol_table *table) {
  interval_table_fini(&table->sized);
  interval_table_fini(&table->unsized);
}

static void symbol_set(const struct interval *from, struct table_symbol *out) {
  const char *name = from->value;
  size_t length = strcspn(name, "@");
  *out = (struct table_symbol){
      .name = name, .length = length > 0 ? length : strlen(name), .start = from->start};
}

bool symbol_table_find(const struct symbol_table *table, uint64_t address,
                       struct table_symbol *out) {
  const struct interval *found = interval_table_find(&table->sized, address);
  if (found == NULL) {
    found = interval_table_find(&table->unsized, address);
    uint32_t behind = interval_table_from(&table->sized, address);
    /* A label inside a function that has a size ends with it. */
    if (found == NULL || interval_table_find(&table->sized, found->start) != NULL ||
        (behind > 0 && table->sized.items[behind - 1].start >= found->start))
      return false;
  }
  symbol_set(found, out);
  return true;
}

bool symbol_table_mangled(const struct symbol_table *table, uint64_t start,
                          struct table_symbol *out) {
  const struct interval_table *sized = &table->sized;
  for (uint32_t i = interval_table_from(sized, start);
       i < sized->count && sized->items[i].start == start; i++) {
    if (strncmp(sized->items[i].value, "_Z", 2) == 0) {
      symbol_set(&sized->items[i], out);
      return true;
    }
  }
  return false;
}

static bool ends_behind_underscore(const char *name, const struct table_symbol *end) {
  size_t length = strlen(name);
  return length > end->length && name[length - end->length - 1] == '_' &&
         memcmp(name + length - end->length, end->name, end->length) == 0;
}

bool symbol_table_public_name(const struct symbol_table *table, uint64_t start, const char *name,
                              struct table_symbol *out) {
  const struct interval_table *sized = &table->sized;
  bool found = false;
  for (uint32_t i = interval_table_from(sized, start);
       i < sized->count && sized->items[i].start == start; i++) {
    struct table_symbol symbol;
    symbol_set(&sized->items[i], &symbol);
    if (is_exported(&sized->items[i]) && ends_behind_underscore(name, &symbol) &&
        (!found || symbol.length < out->length)) {
      *out = symbol;
      found = true;
    }
  }
  return found;
}
