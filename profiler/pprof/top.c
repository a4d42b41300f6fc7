#include "pprof/top.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "intern.h"

struct row {
  int64_t flat, cum;
  uint32_t file;        /* in pprof_top.strings */
  uint64_t last_sample; /* that was added to cum */
};

struct pprof_top {
  struct intern names; /* with their NUL; a name's number is its row's */
  struct intern files; /* with their NUL */
  struct row *rows;
  size_t rows_max;
  uint64_t samples; /* added so far */
  int64_t total;
  struct pprof_top_row *sorted;
};

/* The rows of one profile's functions and mappings, found when they are first met. */
struct addition {
  struct pprof_top *top;
  const struct pprof_profile *profile;
  uint32_t *function_rows;
  uint32_t *mapping_rows; /* the last is for locations without a mapping */
};

#define NO_ROW UINT32_MAX

struct pprof_top *pprof_top_create(void) {
  struct pprof_top *top = calloc(1, sizeof(*top));
  if (top == NULL)
    return NULL;
  intern_init(&top->names);
  intern_init(&top->files);
  return top;
}

void pprof_top_destroy(struct pprof_top *top) {
  if (top == NULL)
    return;
  intern_fini(&top->names);
  intern_fini(&top->files);
  free(top->rows);
  free(top->sorted);
  free(top);
}

static int refuse_sample_type(const struct pprof_profile *profile, const char *name,
                              struct pprof_error *error) {
  char names[160] = "";
  for (size_t i = 0; i < profile->header.sample_type_count; i++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
             profile->header.sample_types[i].type);
  }
  pprof_error_set(error, "no sample type \"%s\", only %s", name, names);
  return -1;
}

int pprof_top_choose(const struct pprof_profile *profile, const char *name, size_t *out_index,
                     struct pprof_error *error) {
  const struct pprof_header *header = &profile->header;
  const char *wanted = name != NULL ? name : header->default_sample_type;
  for (size_t i = 0; wanted != NULL && i < header->sample_type_count; i++) {
    if (strcmp(header->sample_types[i].type, wanted) == 0) {
      *out_index = i;
      return 0;
    }
  }
  if (name != NULL)
    return refuse_sample_type(profile, name, error);
  *out_index = header->sample_type_count - 1;
  return 0;
}

static int64_t add_saturated(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return a < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

/* The number of the row with the name; NO_ROW when memory ran out. */
static uint32_t row_get(struct pprof_top *top, const char *name, const char *file) {
  uint32_t before = top->names.count;
  uint32_t number = intern_add(&top->names, name, strlen(name) + 1);
  if (number != before || top->names.failed)
    return number;
  if (number == top->rows_max) {
    size_t grown = top->rows_max == 0 ? 256 : top->rows_max * 2;
    struct row *moved = reallocarray(top->rows, grown, sizeof(*moved));
    if (moved == NULL)
      return NO_ROW;
    top->rows = moved;
    top->rows_max = grown;
  }
  top->rows[number] = (struct row){.file = intern_add(&top->files, file, strlen(file) + 1)};
  return top->files.failed ? NO_ROW : number;
}

static uint32_t function_row(struct addition *addition, uint32_t function) {
  uint32_t *row = &addition->function_rows[function];
  if (*row == NO_ROW) {
    const struct pprof_function *from = &addition->profile->functions[function];
    *row = row_get(addition->top, *from->name != '\0' ? from->name : "<unknown>", from->file);
  }
  return *row;
}

/* "[libc.so.6]" */
static uint32_t mapping_row(struct addition *addition, uint32_t mapping) {
  const struct pprof_profile *profile = addition->profile;
  bool known = mapping != PPROF_NO_MAPPING && *profile->mappings[mapping].path != '\0';
  uint32_t *row =
      &addition->mapping_rows[mapping != PPROF_NO_MAPPING ? mapping : profile->mapping_count];
  if (*row == NO_ROW && !known) {
    *row = row_get(addition->top, "<unknown>", "");
  } else if (*row == NO_ROW) {
    char name[256];
    const char *path = profile->mappings[mapping].path;
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof(name), "[%.*s]", (int)sizeof(name) - 3, slash != NULL ? slash + 1 : path);
    *row = row_get(addition->top, path[0] == '[' ? path : name, "");
  }
  return *row;
}

/* Adds to one function of a stack; the first is the leaf. */
static int count_frame(struct pprof_top *top, uint32_t number, int64_t value, bool is_leaf) {
  if (number == NO_ROW)
    return -1;
  struct row *row = &top->rows[number];
  if (is_leaf)
    row->flat = add_saturated(row->flat, value);
  if (row->last_sample != top->samples) {
    row->cum = add_saturated(row->cum, value);
    row->last_sample = top->samples;
  }
  return 0;
}

static int count_location(struct addition *addition, uint32_t index, int64_t value, bool is_leaf) {
  const struct pprof_location *location = &addition->profile->locations[index];
  if (location->frame_count == 0)
    return count_frame(addition->top, mapping_row(addition, location->mapping), value, is_leaf);
  for (size_t i = 0; i < location->frame_count; i++) {
    if (count_frame(addition->top, function_row(addition, location->frames[i].function), value,
                    is_leaf && i == 0) != 0)
      return -1;
  }
  return 0;
}

static int count_samples(struct addition *addition, size_t index) {
  struct pprof_top *top = addition->top;
  for (size_t i = 0; i < addition->profile->sample_count; i++) {
    const struct pprof_sample *sample = &addition->profile->samples[i];
    int64_t value = sample->values[index];
    if (value == 0) /* of another sample type only: its functions are no rows */
      continue;
    top->samples++; /* from 1, so that no row has seen it */
    top->total = add_saturated(top->total, value);
    for (size_t j = 0; j < sample->location_count; j++) {
      if (count_location(addition, sample->locations[j], value, j == 0) != 0)
        return -1;
    }
  }
  return 0;
}

static uint32_t *rows_none(size_t count) {
  uint32_t *rows = reallocarray(NULL, count, sizeof(*rows));
  for (size_t i = 0; rows != NULL && i < count; i++)
    rows[i] = NO_ROW;
  return rows;
}

int pprof_top_add(struct pprof_top *top, const struct pprof_profile *profile, size_t index) {
  struct addition addition = {
      .top = top,
      .profile = profile,
      .function_rows = rows_none(profile->function_count + 1),
      .mapping_rows = rows_none(profile->mapping_count + 1),
  };
  int result = -1;
  if (addition.function_rows != NULL && addition.mapping_rows != NULL)
    result = count_samples(&addition, index);
  free(addition.function_rows);
  free(addition.mapping_rows);
  return result;
}

static int compare_values(int64_t a, int64_t b) {
  return a > b ? -1 : a < b;
}

static int compare_by_flat(const void *a, const void *b) {
  const struct pprof_top_row *left = a;
  const struct pprof_top_row *right = b;
  int order = compare_values(left->flat, right->flat);
  if (order == 0)
    order = compare_values(left->cum, right->cum);
  return order != 0 ? order : strcmp(left->name, right->name);
}

static int compare_by_cum(const void *a, const void *b) {
  const struct pprof_top_row *left = a;
  const struct pprof_top_row *right = b;
  int order = compare_values(left->cum, right->cum);
  if (order == 0)
    order = compare_values(left->flat, right->flat);
  return order != 0 ? order : strcmp(left->name, right->name);
}

int pprof_top_rows(struct pprof_top *top, enum pprof_top_order order,
                   const struct pprof_top_row **out, size_t *out_count) {
  size_t count = top->names.count;
  struct pprof_top_row *sorted = reallocarray(top->sorted, count + 1, sizeof(*sorted));
  if (sorted == NULL)
    return -1;
  top->sorted = sorted;
  for (size_t i = 0; i < count; i++) {
    size_t size;
    const struct row *row = &top->rows[i];
    sorted[i] = (struct pprof_top_row){
        .name = (const char *)intern_at(&top->names, (uint32_t)i, &size),
        .file = (const char *)intern_at(&top->files, row->file, &size),
        .flat = row->flat,
        .cum = row->cum,
    };
  }
  qsort(sorted, count, sizeof(*sorted),
        order == PPROF_TOP_BY_FLAT ? compare_by_flat : compare_by_cum);
  *out = sorted;
  *out_count = count;
  return 0;
}

int64_t pprof_top_total(const struct pprof_top *top) {
  return top->total;
}
