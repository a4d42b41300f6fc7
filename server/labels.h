#ifndef SERVER_LABELS_H
#define SERVER_LABELS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The labels that a request's samples carry in profiles: method, version and query. At most
 * LABELS_QUERIES_MAX distinct queries get a label of their own, later ones are `other`,
 * so that profiles stay small whatever clients ask.
 */
#define LABELS_QUERIES_MAX 64

struct labels {
  char version[12];
  bool with_query;
  pthread_mutex_t mutex; /* guards the adding of queries */
  _Atomic(char *) queries[LABELS_QUERIES_MAX];
};

/* With `with_query` false, samples carry no query. */
void labels_init(struct labels *labels, int version, bool with_query);
void labels_fini(struct labels *labels);

/* Labels the calling thread for one request. `query` is NUL-terminated. */
void labels_set(struct labels *labels, const char *method, const char *query);

/* Takes the request's labels off the calling thread. */
void labels_clear(void);

#endif
