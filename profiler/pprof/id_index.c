#include "id_index.h"

#include <inttypes.h>
#include <stdlib.h>

#include "error.h"

struct pair {
  uint64_t id;
  uint32_t place;
};

static int compare_pairs(const void *a, const void *b) {
  const struct pair *left = a;
  const struct pair *right = b;
  if (left->id != right->id)
    return left->id < right->id ? -1 : 1;
  return left->place < right->place ? -1 : left->place > right->place;
}

static bool is_sequence(const uint64_t *ids, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (ids[i] != i + 1)
      return false;
  }
  return true;
}

static int check_zero(const uint64_t *ids, size_t count, const char *what,
                      struct pprof_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (ids[i] == 0) {
      pprof_error_set(error, "%s number %zu has the id 0, which is reserved", what, i + 1);
      return -1;
    }
  }
  return 0;
}

static int check_twice(const struct pair *pairs, size_t count, const char *what,
                       struct pprof_error *error) {
  for (size_t i = 1; i < count; i++) {
    if (pairs[i].id == pairs[i - 1].id) {
      pprof_error_set(error, "two of the %ss have the id %" PRIu64, what, pairs[i].id);
      return -1;
    }
  }
  return 0;
}

int id_index_create(uint64_t *ids, size_t count, const char *what, struct pprof_arena *arena,
                    struct id_index *out, struct pprof_error *error) {
  if (is_sequence(ids, count)) {
    *out = (struct id_index){.count = count};
    return 0;
  }
  if (check_zero(ids, count, what, error) != 0)
    return -1;
  struct pair *pairs = pprof_arena_take_array(arena, count, sizeof(*pairs));
  uint32_t *places = pprof_arena_take_array(arena, count, sizeof(*places));
  if (pairs == NULL || places == NULL) {
    pprof_error_set(error, "over the limit of memory when decoded");
    return -1;
  }
  for (size_t i = 0; i < count; i++)
    pairs[i] = (struct pair){.id = ids[i], .place = (uint32_t)i};
  qsort(pairs, count, sizeof(*pairs), compare_pairs);
  if (check_twice(pairs, count, what, error) != 0)
    return -1;
  for (size_t i = 0; i < count; i++) {
    ids[i] = pairs[i].id;
    places[i] = pairs[i].place;
  }
  *out = (struct id_index){.ids = ids, .places = places, .count = count};
  return 0;
}

bool id_index_find(const struct id_index *index, uint64_t id, uint32_t *out_place) {
  if (index->ids == NULL) {
    *out_place = (uint32_t)(id - 1);
    return id != 0 && id <= index->count;
  }
  size_t low = 0;
  size_t high = index->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (index->ids[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == index->count || index->ids[low] != id)
    return false;
  *out_place = index->places[low];
  return true;
}
