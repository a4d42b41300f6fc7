#include "corpus/corpus.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "stand_in.h"

enum outcome {
  FOUND = 0,
  FAILED = -1,
  ABSENT = 1
};

static bool is_set(const char *value) {
  return value && value[0];
}

/*
 * "shakesapp/<name>" under the folder that the variable holds, or under
 * `home_default` in HOME. As the XDG Base Directory Specification says, a path
 * that is not absolute is ignored. Returns it owned, or NULL and fills *error.
 */
static char *user_folder(const char *variable, const char *home_default, const char *name,
                         struct corpus_error *error) {
  const char *base = getenv(variable);
  const char *home = getenv("HOME");
  char *path = NULL;
  int length;
  if (is_set(base) && base[0] == '/') {
    length = asprintf(&path, "%s/shakesapp/%s", base, name);
  } else if (is_set(home)) {
    length = asprintf(&path, "%s/%s/shakesapp/%s", home, home_default, name);
  } else {
    corpus_error_set(error,
                     "neither HOME nor %s is set: set one, or name a folder of texts with -corpus "
                     "or SHAKESAPP_CORPUS",
                     variable);
    return NULL;
  }
  if (length < 0) {
    corpus_error_set(error, "out of memory while the text was looked for: free some and start "
                            "again");
    return NULL;
  }
  return path;
}

static enum outcome open_from_environment(struct corpus **out, struct corpus_error *error) {
  const char *folder = getenv("SHAKESAPP_CORPUS");
  if (!is_set(folder))
    return ABSENT;
  struct corpus_error why;
  if (corpus_open(folder, out, &why) == 0)
    return FOUND;
  corpus_error_set(error, "SHAKESAPP_CORPUS: %s", why.message);
  return FAILED;
}

/* What scripts/fetch-corpus fetched is used only while it is the real text. */
static enum outcome open_fetched(struct corpus **out, struct corpus_error *error) {
  char *folder = user_folder("XDG_DATA_HOME", ".local/share", "corpus", error);
  if (!folder)
    return FAILED;
  enum outcome outcome = FAILED;
  struct corpus *corpus = NULL;
  struct corpus_error why = {"its sums are not those of the real text"};
  struct stat status;
  if (lstat(folder, &status) && (errno == ENOENT || errno == ENOTDIR)) {
    outcome = ABSENT;
  } else if (corpus_open(folder, &corpus, &why) == 0 && corpus_kind(corpus) == CORPUS_REAL) {
    *out = corpus;
    outcome = FOUND;
  } else {
    corpus_close(corpus);
    corpus_error_set(error, "%s: the fetched text is unusable: run scripts/fetch-corpus again (%s)",
                     folder, why.message);
  }
  free(folder);
  return outcome;
}

static bool open_stand_in(const char *folder, struct corpus **out) {
  struct corpus *corpus;
  struct corpus_error ignored;
  if (corpus_open(folder, &corpus, &ignored))
    return false;
  if (corpus_kind(corpus) != CORPUS_STAND_IN) {
    corpus_close(corpus);
    return false;
  }
  *out = corpus;
  return true;
}

/*
 * Opens the stand-in, and writes it when it is missing or damaged. When that
 * fails another process may still have written it in the meantime.
 */
static enum outcome make_stand_in(struct corpus **out, struct corpus_error *error) {
  char *folder = user_folder("XDG_CACHE_HOME", ".cache", "stand-in", error);
  if (!folder)
    return FAILED;
  enum outcome outcome = FOUND;
  if (!open_stand_in(folder, out)) {
    struct corpus_error why;
    if (stand_in_write(folder, &why) == 0)
      corpus_error_set(&why, "%s: changed while it was written: start again", folder);
    if (!open_stand_in(folder, out)) {
      corpus_error_set(error, "%s", why.message);
      outcome = FAILED;
    }
  }
  free(folder);
  return outcome;
}

int corpus_find(const char *folder, struct corpus **out, struct corpus_error *error) {
  if (is_set(folder))
    return corpus_open(folder, out, error);
  enum outcome outcome = open_from_environment(out, error);
  if (outcome == ABSENT)
    outcome = open_fetched(out, error);
  if (outcome == ABSENT)
    outcome = make_stand_in(out, error);
  return outcome == FOUND ? 0 : -1;
}
