#ifndef HTTP_MAKER_H
#define HTTP_MAKER_H

#include <stdbool.h>

#include "descriptor.h"
#include "folio/folio.h"

/*
 * A thread that makes profiles one after the other, since that takes long when symbols are
 * read for the first time and the thread that serves clients must not wait for it.
 */
struct maker;

/* One profile to make, embedded in what wants it. The maker's between give and take. */
struct job {
  struct job *next;
  void *owner; /* of whoever gives it */
  enum folio_type type;
  struct folio_session *session; /* to stop; NULL: a snapshot */
  bool dropped;                  /* the maker stopped first: there is neither profile nor error */
  enum folio_status status;
  struct folio_profile *profile; /* owned by the job's owner when `status` is FOLIO_OK */
  struct folio_error error;      /* else */
};

/* `wake`, an eventfd, is borrowed and woken when a job is done. Returns 0 or an errno value. */
int maker_start(const struct descriptor *wake, struct maker **out);

/* Begins no other job: those that wait are dropped. Nothing may be given any more. */
void maker_close(struct maker *maker);

/* Closes, and joins the thread when the job that it works on is done. Then only take. */
void maker_stop(struct maker *maker);

/* Frees a stopped maker. Jobs that were not taken are forgotten. Takes NULL. */
void maker_destroy(struct maker *maker);

void maker_give(struct maker *maker, struct job *job);

/* A job that is done, or NULL. */
struct job *maker_take(struct maker *maker);

#endif
