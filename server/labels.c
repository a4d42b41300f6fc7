#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folio/folio.h"

void labels_init(struct labels *labels, int version, bool with_query) {
  memset(labels, 0, sizeof(*labels));
  snprintf(labels->version, sizeof(labels->version), "%d", version);
  labels->with_query = with_query;
  pthread_mutex_init(&labels->mutex, NULL);
}

void labels_fini(struct labels *labels) {
  for (size_t i = 0; i < LABELS_QUERIES_MAX; i++)
    free(atomic_load_explicit(&labels->queries[i], memory_order_relaxed));
  pthread_mutex_destroy(&labels->mutex);
}

/* The entries are filled in order; each is complete before its store (release). */
static const char *find(struct labels *labels, const char *query, size_t *out_place) {
  for (size_t i = 0; i < LABELS_QUERIES_MAX; i++) {
    const char *known = atomic_load_explicit(&labels->queries[i], memory_order_acquire);
    if (known == NULL || strcmp(known, query) == 0) {
      *out_place = i;
      return known;
    }
  }
  *out_place = LABELS_QUERIES_MAX;
  return "other";
}

static const char *query_label(struct labels *labels, const char *query) {
  size_t place;
  const char *known = find(labels, query, &place);
  if (known != NULL)
    return known;
  pthread_mutex_lock(&labels->mutex);
  known = find(labels, query, &place);
  if (known == NULL) {
    char *copy = strdup(query);
    if (copy != NULL)
      atomic_store_explicit(&labels->queries[place], copy, memory_order_release);
    known = copy != NULL ? copy : "other";
  }
  pthread_mutex_unlock(&labels->mutex);
  return known;
}

void labels_set(struct labels *labels, const char *method, const char *query) {
  folio_label_set("method", method);
  folio_label_set("version", labels->version);
  if (labels->with_query)
    folio_label_set("query", query_label(labels, query));
}

void labels_clear(void) {
  folio_label_set("method", NULL);
  folio_label_set("version", NULL);
  folio_label_set("query", NULL);
}
