#include "stand_in.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "stand_in_text.h"

static int out_of_memory(struct corpus_error *error) {
  corpus_error_set(error, "out of memory while the stand-in text was made: free some and start "
                          "again");
  return -1;
}

/* Reports errno. */
static int cannot_write(const char *path, struct corpus_error *error) {
  corpus_error_set(error,
                   "%s: cannot be written (%s): make room or give access, set XDG_CACHE_HOME to "
                   "another folder, or run scripts/fetch-corpus",
                   path, strerror(errno));
  return -1;
}

/* Makes the folders above `path`. */
static int make_parents(const char *path, struct corpus_error *error) {
  char *parent = strdup(path);
  if (!parent)
    return out_of_memory(error);
  int result = 0;
  for (char *slash = strchr(parent + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(parent, 0700) && errno != EEXIST) {
      result = cannot_write(parent, error);
      break;
    }
    *slash = '/';
  }
  free(parent);
  return result;
}

static int write_file(const char *path, const char *text, size_t bytes,
                      struct corpus_error *error) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0)
    return cannot_write(path, error);
  size_t done = 0;
  while (done < bytes) {
    ssize_t wrote = write(fd, text + done, bytes - done);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0) {
      cannot_write(path, error);
      close(fd);
      return -1;
    }
    done += (size_t)wrote;
  }
  return close(fd) ? cannot_write(path, error) : 0;
}

static int write_work(const char *folder, const struct work *work,
                      const struct vocabulary *vocabulary, struct corpus_error *error) {
  char *path;
  if (asprintf(&path, "%s/%s", folder, work->name) < 0)
    return out_of_memory(error);
  int result;
  char *text = malloc(work->bytes);
  if (!text || stand_in_text_write(work, vocabulary, text))
    result = out_of_memory(error);
  else
    result = write_file(path, text, work->bytes, error);
  free(text);
  free(path);
  return result;
}

static int write_works(const char *folder, struct corpus_error *error) {
  struct vocabulary *vocabulary = malloc(sizeof *vocabulary);
  if (!vocabulary)
    return out_of_memory(error);
  vocabulary_init(vocabulary);
  int result = 0;
  for (size_t i = 0; i < works_count && result == 0; i++)
    result = write_work(folder, &works[i], vocabulary, error);
  free(vocabulary);
  return result;
}

/*
 * Renames `made` to `folder`. Something that is there already is exchanged, never
 * taken away first: another process may have put a good text there just now,
 * and be reading it.
 */
static int publish(const char *made, const char *folder, struct corpus_error *error) {
  if (rename(made, folder) == 0)
    return 0;
  if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
    return cannot_write(folder, error);
  if (renameat2(AT_FDCWD, made, AT_FDCWD, folder, RENAME_EXCHANGE)) {
    corpus_error_set(error, "%s: is damaged and cannot be replaced (%s): remove it", folder,
                     strerror(errno));
    return -1;
  }
  return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status;
  (void)type;
  (void)walk;
  remove(path);
  return 0;
}

/* Removes a file or a folder and all that it holds; links are not followed. */
static void remove_tree(const char *path) {
  nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int stand_in_write(const char *folder, struct corpus_error *error) {
  int result = -1;
  char *made = NULL;
  if (make_parents(folder, error))
    goto out;
  if (asprintf(&made, "%s.XXXXXX", folder) < 0) {
    made = NULL;
    out_of_memory(error);
    goto out;
  }
  if (!mkdtemp(made)) {
    cannot_write(folder, error);
    goto out;
  }
  if (write_works(made, error) == 0)
    result = publish(made, folder, error);
  remove_tree(made); /* what is left of it, or what it was exchanged for */
out:
  free(made);
  return result;
}
