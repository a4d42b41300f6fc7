#ifndef CORPUS_CORPUS_H
#define CORPUS_CORPUS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The text that is searched: a folder of *.txt files, one work each, in byte
 * order of their names. A line ends with LF or with the end of its file; every
 * other byte, CR included, belongs to its line.
 */
struct corpus;

/* One line without a newline that names the file, what was wrong and what to do. */
struct corpus_error {
  char message[1024];
};

/* What the text is, decided by the SHA-256 sums of its works. */
enum corpus_kind {
  CORPUS_REAL,     /* the 42 works of the public bucket, byte for byte */
  CORPUS_STAND_IN, /* the generated text of the same shape */
  CORPUS_OTHER,    /* any other text */
};

struct corpus_work {
  const char *name; /* "hamlet.txt" */
  const char *path; /* folder and name */
  uint64_t bytes;
  uint64_t lines;
};

/*
 * Finds and opens the text. In this order: `folder` (a flag's value; NULL or ""
 * is none), the environment's SHAKESAPP_CORPUS, the folder that
 * scripts/fetch-corpus fills ($XDG_DATA_HOME/shakesapp/corpus), the generated
 * stand-in, which is written when it is missing. A folder that was named and is
 * unusable is an error, never skipped. Returns 0 and an owned corpus, or -1 and
 * fills *error. Reads the environment; not thread-safe.
 */
int corpus_find(const char *folder, struct corpus **out, struct corpus_error *error);

/*
 * Opens one folder: reads every work once, refuses one that is no regular file,
 * cannot be read or holds a NUL byte, and tells which text it is. Returns 0 and
 * an owned corpus, or -1 and fills *error.
 */
int corpus_open(const char *folder, struct corpus **out, struct corpus_error *error);

/* Takes NULL. */
void corpus_close(struct corpus *corpus);

/* All of these: borrowed for the corpus's life; any thread. */
const char *corpus_folder(const struct corpus *corpus);
enum corpus_kind corpus_kind(const struct corpus *corpus);
size_t corpus_work_count(const struct corpus *corpus);
const struct corpus_work *corpus_work_at(const struct corpus *corpus, size_t index);
uint64_t corpus_bytes(const struct corpus *corpus);
uint64_t corpus_lines(const struct corpus *corpus);

#endif
