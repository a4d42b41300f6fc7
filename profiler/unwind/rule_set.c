#include "rule_set.h"

#include <string.h>

#include "expression.h"

static size_t row_count(const struct rule_set *set) {
  return set->rows.bytes / sizeof(struct rule_row);
}

static struct rule_row *last_row(struct rule_set *set) {
  size_t count = row_count(set);
  return count == 0 ? NULL : (struct rule_row *)(void *)set->rows.data + count - 1;
}

void rule_set_add(struct rule_set *set, uint32_t offset, packed_rule rule) {
  struct rule_row *last = last_row(set);
  while (last != NULL && last->offset >= offset) {
    page_buffer_cut(&set->rows, set->rows.bytes - sizeof(*last));
    last = last_row(set);
  }
  if (rule == (last == NULL ? (packed_rule)RULE_NONE : last->rule))
    return;
  struct rule_row *row = page_buffer_add(&set->rows, sizeof(*row));
  if (row == NULL)
    set->no_memory = true;
  else
    *row = (struct rule_row){offset, rule};
}

/* The index of the item in a buffer of such items, where it is put unless it is there; -1 if it
 * cannot. */
static int64_t intern(struct rule_set *set, struct page_buffer *buffer, const void *item,
                      size_t item_bytes, size_t unit_bytes, size_t max_units) {
  for (size_t at = 0; at + item_bytes <= buffer->bytes; at += unit_bytes)
    if (memcmp(buffer->data + at, item, item_bytes) == 0)
      return (int64_t)(at / unit_bytes);
  size_t index = buffer->bytes / unit_bytes;
  if (index + item_bytes / unit_bytes > max_units)
    return -1;
  void *place = page_buffer_add(buffer, item_bytes);
  if (place == NULL) {
    set->no_memory = true;
    return -1;
  }
  memcpy(place, item, item_bytes);
  return (int64_t)index;
}

/* How many words below the CFA the register is saved, 0 where it is unchanged; -1 when it is
 * neither. */
static int32_t saved_words(const struct place *place) {
  if (place->kind == PLACE_SAME)
    return 0;
  if (place->kind != PLACE_AT_CFA || place->value >= 0 || place->value % RULE_WORD_BYTES != 0)
    return -1;
  int32_t words = -(place->value / RULE_WORD_BYTES);
  return words <= RULE_MAX_SAVED_WORDS ? words : -1;
}

static bool pack_short(const struct wide_rule *rule, packed_rule *out) {
  enum rule_kind kind = rule->cfa.reg == DWARF_SP   ? RULE_SP
                        : rule->cfa.reg == DWARF_FP ? RULE_FP
                        : rule->cfa.reg == DWARF_BX ? RULE_BX
                                                    : RULE_NONE;
  int32_t offset = rule->cfa.value;
  int32_t fp = saved_words(&rule->fp);
  int32_t bx = saved_words(&rule->bx);
  bool fits = rule->cfa.kind == PLACE_REGISTER && kind != RULE_NONE && offset > 0 &&
              offset % RULE_WORD_BYTES == 0 && offset / RULE_WORD_BYTES <= RULE_MAX_OFFSET_WORDS &&
              rule->pc.kind == PLACE_AT_CFA && rule->pc.value == -RULE_WORD_BYTES &&
              rule->sp.kind == PLACE_CFA && rule->sp.value == 0 && fp >= 0 && bx >= 0;
  if (fits)
    *out = rule_pack(kind, (uint32_t)offset / RULE_WORD_BYTES, (uint32_t)fp, (uint32_t)bx);
  return fits;
}

packed_rule rule_set_pack(struct rule_set *set, const struct wide_rule *rule) {
  packed_rule packed;
  if (pack_short(rule, &packed))
    return packed;
  int64_t index = intern(set, &set->wide, rule, sizeof(*rule), sizeof(*rule), RULE_MAX_WIDE);
  return index < 0 ? (packed_rule)RULE_NONE : rule_pack_wide((uint32_t)index);
}

struct place rule_set_expression(struct rule_set *set, struct cursor *program, size_t depth) {
  struct expression_step steps[EXPRESSION_MAX_STEPS];
  size_t count = expression_translate(program, depth, steps);
  int64_t index = count == 0 ? -1
                             : intern(set, &set->steps, steps, count * sizeof(steps[0]),
                                      sizeof(steps[0]), RULE_MAX_WIDE);
  if (index < 0)
    return (struct place){0};
  return (struct place){.step_count = (uint16_t)count, .value = (int32_t)index};
}

void rule_set_clear(struct rule_set *set) {
  page_buffer_cut(&set->rows, 0);
  page_buffer_cut(&set->wide, 0);
  page_buffer_cut(&set->steps, 0);
  set->no_memory = false;
}

void rule_set_free(struct rule_set *set) {
  page_buffer_free(&set->rows);
  page_buffer_free(&set->wide);
  page_buffer_free(&set->steps);
}
