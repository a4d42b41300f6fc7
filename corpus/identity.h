#ifndef CORPUS_IDENTITY_H
#define CORPUS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "corpus/corpus.h"

/*
 * Tells which text a folder holds, from its works shown one after another. Sums
 * are computed only while names and sizes are those of the table, so that any
 * other text costs nothing.
 */
struct identity {
  bool candidate;      /* names and sizes were the table's so far */
  bool real;           /* so were the sums */
  size_t works;        /* completed */
  EVP_MD_CTX *work;    /* SHA-256 of the current work */
  EVP_MD_CTX *listing; /* SHA-256 of what sha256sum prints for all works */
};

/* Begins with a folder of so many works. The int functions return 0, or -1 when memory ran out. */
int identity_init(struct identity *identity, size_t work_count);

/* Frees what init made, also when it failed. */
void identity_fini(struct identity *identity);

/* The next work in byte order of the names. */
int identity_work_begin(struct identity *identity, const char *name, uint64_t bytes);
int identity_work_update(struct identity *identity, const void *data, size_t bytes);
int identity_work_end(struct identity *identity);

/* Which text it was, after the last work. */
int identity_kind(struct identity *identity, enum corpus_kind *out);

#endif
