#include "text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void path_of(const struct text *text, const char *name, char *out, size_t size) {
  int length = snprintf(out, size, "%s/%s", text->folder, name);
  assert_in_range(length, 1, size - 1);
}

void text_create(struct text *text) {
  *text = (struct text){.folder = "/tmp/shakesapp-match-test-XXXXXX"};
  if (mkdtemp(text->folder) == NULL)
    fail_msg("cannot make a temporary folder like %s", text->folder);
}

void text_write(const struct text *text, const char *name, const char *bytes, size_t length) {
  char path[512];
  path_of(text, name, path, sizeof path);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

void text_make_folder(const struct text *text, const char *name) {
  char path[512];
  path_of(text, name, path, sizeof path);
  assert_int_equal(mkdir(path, 0700), 0);
}

void text_make_pipe(const struct text *text, const char *name) {
  char path[512];
  path_of(text, name, path, sizeof path);
  assert_int_equal(mkfifo(path, 0600), 0);
}

void text_open(struct text *text) {
  struct corpus_error error;
  if (corpus_open(text->folder, &text->corpus, &error) != 0)
    fail_msg("%s", error.message);
}

void text_of(struct text *text, const char *bytes) {
  text_create(text);
  text_write(text, "work.txt", bytes, strlen(bytes));
  text_open(text);
}

void text_remove(const struct text *text, const char *name) {
  char path[512];
  path_of(text, name, path, sizeof path);
  assert_int_equal(remove(path), 0);
}

void text_destroy(struct text *text) {
  corpus_close(text->corpus);
  DIR *folder = opendir(text->folder);
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] != '.')
      text_remove(text, entry->d_name);
  }
  closedir(folder);
  assert_int_equal(rmdir(text->folder), 0);
}

int64_t text_count(const struct text *text, const struct match_version *version,
                   const char *phrase) {
  struct match_error error;
  void *state;
  if (version->prepare(text->corpus, &state, &error) != MATCH_OK)
    fail_msg("version %d: %s", version->number, error.message);
  const struct match_query query = {.phrase = phrase, .length = strlen(phrase)};
  int64_t count = -1;
  if (version->count(state, &query, &count, &error) != MATCH_OK)
    fail_msg("version %d: %s", version->number, error.message);
  version->release(state);
  return count;
}

void assert_every_version_counts(const struct text *text, const char *phrase, int64_t expected) {
  for (size_t i = 0; i < match_version_count(); i++) {
    const struct match_version *version = match_version_at(i);
    int64_t count = text_count(text, version, phrase);
    if (count != expected)
      fail_msg("version %d counts %lld lines that contain \"%s\", expected %lld", version->number,
               (long long)count, phrase, (long long)expected);
  }
}
