#ifndef CORPUS_WORKS_H
#define CORPUS_WORKS_H

#include <stddef.h>
#include <stdint.h>

/* One work of the real text, as works.tsv lists it. */
struct work {
  const char *name;
  uint64_t bytes;
  uint64_t lines;
  const char *sha256; /* 64 lower-case hexadecimal digits */
};

/* The works in byte order of their names. */
extern const struct work works[];
extern const size_t works_count;

/*
 * One sum over the stand-in, whose works have the same names, bytes and lines:
 * what `LC_ALL=C sha256sum *.txt | sha256sum` prints in its folder.
 */
extern const char works_stand_in_sha256[];

#endif
