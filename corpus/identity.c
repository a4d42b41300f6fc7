#include "identity.h"

#include <stdio.h>
#include <string.h>

#include "works.h"

enum {
  SHA256_BYTES = 32,
  SHA256_DIGITS = 2 * SHA256_BYTES
};

static int sum_begin(EVP_MD_CTX *sum) {
  return EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1 ? 0 : -1;
}

/* Completes the sum as hexadecimal digits and a NUL. */
static int sum_end(EVP_MD_CTX *sum, char out[SHA256_DIGITS + 1]) {
  unsigned char bytes[SHA256_BYTES];
  if (EVP_DigestFinal_ex(sum, bytes, NULL) != 1)
    return -1;
  for (size_t i = 0; i < SHA256_BYTES; i++)
    snprintf(out + 2 * i, 3, "%02x", bytes[i]);
  return 0;
}

int identity_init(struct identity *identity, size_t work_count) {
  *identity = (struct identity){.candidate = work_count == works_count, .real = true};
  if (!identity->candidate)
    return 0;
  identity->work = EVP_MD_CTX_new();
  identity->listing = EVP_MD_CTX_new();
  if (!identity->work || !identity->listing)
    return -1;
  return sum_begin(identity->listing);
}

void identity_fini(struct identity *identity) {
  EVP_MD_CTX_free(identity->work);
  EVP_MD_CTX_free(identity->listing);
}

int identity_work_begin(struct identity *identity, const char *name, uint64_t bytes) {
  if (!identity->candidate)
    return 0;
  const struct work *expected = &works[identity->works];
  identity->candidate = strcmp(name, expected->name) == 0 && bytes == expected->bytes;
  return identity->candidate ? sum_begin(identity->work) : 0;
}

int identity_work_update(struct identity *identity, const void *data, size_t bytes) {
  if (!identity->candidate)
    return 0;
  return EVP_DigestUpdate(identity->work, data, bytes) == 1 ? 0 : -1;
}

int identity_work_end(struct identity *identity) {
  if (!identity->candidate)
    return 0;
  const struct work *expected = &works[identity->works++];
  char sha256[SHA256_DIGITS + 1];
  if (sum_end(identity->work, sha256))
    return -1;
  if (strcmp(sha256, expected->sha256) != 0)
    identity->real = false;

  char row[256];
  int row_bytes = snprintf(row, sizeof row, "%s  %s\n", sha256, expected->name);
  return EVP_DigestUpdate(identity->listing, row, (size_t)row_bytes) == 1 ? 0 : -1;
}

int identity_kind(struct identity *identity, enum corpus_kind *out) {
  if (!identity->candidate) {
    *out = CORPUS_OTHER;
    return 0;
  }
  char sha256[SHA256_DIGITS + 1];
  if (sum_end(identity->listing, sha256))
    return -1;
  if (identity->real)
    *out = CORPUS_REAL;
  else if (strcmp(sha256, works_stand_in_sha256) == 0)
    *out = CORPUS_STAND_IN;
  else
    *out = CORPUS_OTHER;
  return 0;
}
