#include "corpus/corpus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "identity.h"

enum {
  CHUNK_BYTES = 64 * 1024
};

struct corpus {
  char *folder;
  char **paths;              /* owned; the works' names and paths point into them */
  struct corpus_work *works; /* as many as paths */
  size_t count;
  enum corpus_kind kind;
  uint64_t bytes;
  uint64_t lines;
};

static int out_of_memory(const char *path, struct corpus_error *error) {
  corpus_error_set(error, "%s: out of memory while it was read: free some and start again", path);
  return -1;
}

/* Whether the shell's *.txt matches the name. */
static bool is_work_name(const char *name) {
  size_t length = strlen(name);
  return name[0] != '.' && length >= 4 && strcmp(name + length - 4, ".txt") == 0;
}

/* Takes the path; *capacity is the room in corpus->paths. */
static int add_path(struct corpus *corpus, char *path, size_t *capacity) {
  if (corpus->count == *capacity) {
    size_t grown = *capacity ? *capacity * 2 : 64;
    char **paths = realloc(corpus->paths, grown * sizeof *paths);
    if (!paths) {
      free(path);
      return -1;
    }
    corpus->paths = paths;
    *capacity = grown;
  }
  corpus->paths[corpus->count++] = path;
  return 0;
}

static void folder_error(const char *folder, struct corpus_error *error) {
  if (errno == ENOENT)
    corpus_error_set(error, "%s: there is no such folder: name one that holds *.txt files", folder);
  else if (errno == ENOTDIR)
    corpus_error_set(error, "%s: is not a folder: name the folder that holds the *.txt files",
                     folder);
  else
    corpus_error_set(error, "%s: cannot be read (%s): give access to it or name another folder",
                     folder, strerror(errno));
}

/* Fills corpus->paths, in any order. */
static int list_paths(struct corpus *corpus, struct corpus_error *error) {
  DIR *directory = opendir(corpus->folder);
  if (!directory) {
    folder_error(corpus->folder, error);
    return -1;
  }
  const char *slash = corpus->folder[strlen(corpus->folder) - 1] == '/' ? "" : "/";
  size_t capacity = 0;
  int result = -1;
  const struct dirent *entry;
  while (errno = 0, (entry = readdir(directory))) {
    char *path;
    if (!is_work_name(entry->d_name))
      continue;
    if (asprintf(&path, "%s%s%s", corpus->folder, slash, entry->d_name) < 0 ||
        add_path(corpus, path, &capacity)) {
      out_of_memory(corpus->folder, error);
      goto out;
    }
  }
  if (errno) {
    folder_error(corpus->folder, error);
    goto out;
  }
  if (corpus->count == 0) {
    corpus_error_set(error, "%s: holds no *.txt file: name a folder of texts", corpus->folder);
    goto out;
  }
  result = 0;
out:
  closedir(directory);
  return result;
}

static int compare_paths(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Opens a regular file and never blocks, whatever the path leads to. */
static int open_regular(const char *path, int *out_fd, uint64_t *out_bytes,
                        struct corpus_error *error) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 && (errno == ENOENT || errno == ELOOP))
    corpus_error_set(error, "%s: is a broken link: mend it or remove it", path);
  else if (fd < 0 && errno == ENXIO)
    corpus_error_set(error, "%s: is not a regular file: move it elsewhere or remove it", path);
  else if (fd < 0)
    corpus_error_set(error, "%s: cannot be opened (%s): make it readable or remove it", path,
                     strerror(errno));
  else if (fstat(fd, &status))
    corpus_error_set(error, "%s: cannot be examined (%s): mend it or remove it", path,
                     strerror(errno));
  else if (S_ISDIR(status.st_mode))
    corpus_error_set(error, "%s: is a folder, not a text: rename it or move it elsewhere", path);
  else if (!S_ISREG(status.st_mode))
    corpus_error_set(error, "%s: is not a regular file: move it elsewhere or remove it", path);
  else {
    *out_fd = fd;
    *out_bytes = (uint64_t)status.st_size;
    return 0;
  }
  if (fd >= 0)
    close(fd);
  return -1;
}

static uint64_t count_newlines(const char *text, size_t bytes) {
  uint64_t count = 0;
  const char *end = text + bytes;
  for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
    count++;
  return count;
}

/* Reads the work to its end: counts, refuses NUL bytes, shows the bytes to `identity`. */
static int read_bytes(int fd, struct corpus_work *work, struct identity *identity,
                      struct corpus_error *error) {
  char chunk[CHUNK_BYTES];
  char last = '\n';
  for (;;) {
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      corpus_error_set(error, "%s: cannot be read (%s): mend it or remove it", work->path,
                       strerror(errno));
      return -1;
    }
    if (got == 0)
      break;
    const char *nul = memchr(chunk, '\0', (size_t)got);
    if (nul) {
      corpus_error_set(error,
                       "%s: holds a NUL byte at offset %llu: make it plain text or remove it",
                       work->path, (unsigned long long)(work->bytes + (uint64_t)(nul - chunk)));
      return -1;
    }
    if (identity_work_update(identity, chunk, (size_t)got))
      return out_of_memory(work->path, error);
    work->bytes += (uint64_t)got;
    work->lines += count_newlines(chunk, (size_t)got);
    last = chunk[got - 1];
  }
  if (last != '\n')
    work->lines++;
  return 0;
}

static int read_work(struct corpus_work *work, struct identity *identity,
                     struct corpus_error *error) {
  int fd;
  uint64_t expected_bytes;
  if (open_regular(work->path, &fd, &expected_bytes, error))
    return -1;
  int result = -1;
  if (identity_work_begin(identity, work->name, expected_bytes)) {
    out_of_memory(work->path, error);
    goto out;
  }
  if (read_bytes(fd, work, identity, error))
    goto out;
  if (identity_work_end(identity)) {
    out_of_memory(work->path, error);
    goto out;
  }
  result = 0;
out:
  close(fd);
  return result;
}

static int read_works(struct corpus *corpus, struct corpus_error *error) {
  struct identity identity;
  int result = -1;
  if (identity_init(&identity, corpus->count)) {
    out_of_memory(corpus->folder, error);
    goto out;
  }
  for (size_t i = 0; i < corpus->count; i++) {
    struct corpus_work *work = &corpus->works[i];
    work->path = corpus->paths[i];
    work->name = strrchr(work->path, '/') + 1;
    if (read_work(work, &identity, error))
      goto out;
    corpus->bytes += work->bytes;
    corpus->lines += work->lines;
  }
  if (identity_kind(&identity, &corpus->kind)) {
    out_of_memory(corpus->folder, error);
    goto out;
  }
  result = 0;
out:
  identity_fini(&identity);
  return result;
}

int corpus_open(const char *folder, struct corpus **out, struct corpus_error *error) {
  if (!folder[0]) {
    corpus_error_set(error, "the folder's name is empty: name one that holds *.txt files");
    return -1;
  }
  struct corpus *corpus = calloc(1, sizeof *corpus);
  if (!corpus || !(corpus->folder = strdup(folder))) {
    out_of_memory(folder, error);
    goto failed;
  }
  if (list_paths(corpus, error))
    goto failed;
  qsort(corpus->paths, corpus->count, sizeof *corpus->paths, compare_paths);
  corpus->works = calloc(corpus->count, sizeof *corpus->works);
  if (!corpus->works) {
    out_of_memory(folder, error);
    goto failed;
  }
  if (read_works(corpus, error))
    goto failed;
  *out = corpus;
  return 0;
failed:
  corpus_close(corpus);
  return -1;
}

void corpus_close(struct corpus *corpus) {
  if (!corpus)
    return;
  for (size_t i = 0; i < corpus->count; i++)
    free(corpus->paths[i]);
  free(corpus->paths);
  free(corpus->works);
  free(corpus->folder);
  free(corpus);
}

const char *corpus_folder(const struct corpus *corpus) {
  return corpus->folder;
}

enum corpus_kind corpus_kind(const struct corpus *corpus) {
  return corpus->kind;
}

size_t corpus_work_count(const struct corpus *corpus) {
  return corpus->count;
}

const struct corpus_work *corpus_work_at(const struct corpus *corpus, size_t index) {
  return &corpus->works[index];
}

uint64_t corpus_bytes(const struct corpus *corpus) {
  return corpus->bytes;
}

uint64_t corpus_lines(const struct corpus *corpus) {
  return corpus->lines;
}
