#include "client/queries.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <utf8proc.h>

enum {
  MAX_PHRASE_BYTES = 1024, /* the server refuses longer ones */
  MAX_FILE_BYTES = 16 << 20,
};

#define UTF8_BYTE_ORDER_MARK "\xEF\xBB\xBF"

static const struct query known_items[] = {
    {"hello", 349},
    {"world", 728},
    {"to be, or not to be", 1},
    {"insolence", 14},
};

const struct queries queries_known = {
    .items = known_items,
    .count = sizeof(known_items) / sizeof(known_items[0]),
};

/* Queries read from a file; the phrases point into its text. */
struct file_queries {
  struct queries queries; /* first: what queries_free() is given */
  struct query *items;
  size_t capacity;
  char *text;
  size_t text_bytes;
};

void queries_free(struct queries *queries) {
  if (queries == NULL)
    return;
  struct file_queries *file = (struct file_queries *)queries;
  free(file->items);
  free(file->text);
  free(file);
}

/* Reads up to the end and puts a NUL there. Returns 0 or an errno; EFBIG past the limit. */
static int text_read(struct file_queries *file, int fd) {
  size_t capacity = 0;
  while (true) {
    if (file->text_bytes == capacity) {
      capacity = capacity == 0 ? 4096 : capacity * 2;
      char *grown = realloc(file->text, capacity + 1);
      if (grown == NULL)
        return ENOMEM;
      file->text = grown;
    }
    ssize_t got = read(fd, file->text + file->text_bytes, capacity - file->text_bytes);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errno;
    if (got == 0)
      break;
    file->text_bytes += (size_t)got;
    if (file->text_bytes > MAX_FILE_BYTES)
      return EFBIG;
  }
  file->text[file->text_bytes] = '\0';
  return 0;
}

static int text_load(struct file_queries *file, const char *path, struct rpc_error *error) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int failed = fd < 0 ? errno : text_read(file, fd);
  if (fd >= 0)
    close(fd);
  if (failed == EFBIG)
    rpc_error_set(error, "queries file %s is over 16 MiB: give a smaller one", path);
  else if (failed != 0)
    rpc_error_set(error, "cannot read queries file %s: %s", path, strerror(failed));
  return failed == 0 ? 0 : -1;
}

static bool is_utf8(const char *text, size_t length) {
  const utf8proc_uint8_t *next = (const utf8proc_uint8_t *)text;
  while (length > 0) {
    utf8proc_int32_t code_point;
    utf8proc_ssize_t taken = utf8proc_iterate(next, (utf8proc_ssize_t)length, &code_point);
    if (taken <= 0)
      return false;
    next += taken;
    length -= (size_t)taken;
  }
  return true;
}

/* Returns NULL, or what is wrong with the text. */
static const char *count_parse(const char *text, int64_t *out) {
  if (strcmp(text, "-") == 0) {
    *out = QUERY_UNCHECKED;
    return NULL;
  }
  if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
    return "the count is neither a whole number of 0 or more nor -";
  errno = 0;
  long long count = strtoll(text, NULL, 10);
  if (errno == ERANGE)
    return "the count is too large";
  *out = count;
  return NULL;
}

/* Parses one line, NUL-terminated, in place. Returns NULL, or what is wrong with it. */
static const char *line_parse(char *line, size_t length, struct query *out) {
  if (memchr(line, '\0', length) != NULL)
    return "it holds a NUL byte";
  char *tab = strrchr(line, '\t');
  if (tab == NULL)
    return "no TAB: write the phrase, a TAB and the count (- for one that is not checked)";
  size_t phrase_bytes = (size_t)(tab - line);
  if (phrase_bytes == 0)
    return "the phrase is empty";
  if (phrase_bytes > MAX_PHRASE_BYTES)
    return "the phrase is over 1,024 bytes";
  if (!is_utf8(line, phrase_bytes))
    return "the phrase is not UTF-8";
  *tab = '\0';
  out->phrase = line;
  return count_parse(tab + 1, &out->count);
}

/* Makes room for one more query and returns it, or NULL when memory ran out. */
static struct query *items_next(struct file_queries *file) {
  if (file->queries.count == file->capacity) {
    size_t capacity = file->capacity == 0 ? 64 : file->capacity * 2;
    struct query *grown = realloc(file->items, capacity * sizeof(*grown));
    if (grown == NULL)
      return NULL;
    file->items = grown;
    file->capacity = capacity;
    file->queries.items = grown;
  }
  return &file->items[file->queries.count];
}

/* Adds the query of one line, if it holds one. Returns NULL, or what is wrong with the line. */
static const char *line_add(struct file_queries *file, char *line, size_t length) {
  if (length > 0 && line[length - 1] == '\r')
    length--;
  if (length == 0 || line[0] == '#')
    return NULL;
  line[length] = '\0';
  struct query *query = items_next(file);
  if (query == NULL)
    return "out of memory";
  const char *wrong = line_parse(line, length, query);
  if (wrong == NULL)
    file->queries.count++;
  return wrong;
}

static int text_parse(struct file_queries *file, const char *path, struct rpc_error *error) {
  assert(file->text != NULL);
  char *line = file->text;
  char *end = file->text + file->text_bytes;
  if (strncmp(line, UTF8_BYTE_ORDER_MARK, strlen(UTF8_BYTE_ORDER_MARK)) == 0)
    line += strlen(UTF8_BYTE_ORDER_MARK);
  for (size_t number = 1; line < end; number++) {
    char *newline = memchr(line, '\n', (size_t)(end - line));
    char *line_end = newline != NULL ? newline : end;
    const char *wrong = line_add(file, line, (size_t)(line_end - line));
    if (wrong != NULL) {
      rpc_error_set(error, "queries file %s, line %zu: %s", path, number, wrong);
      return -1;
    }
    line = line_end + 1;
  }
  if (file->queries.count == 0) {
    rpc_error_set(error, "queries file %s holds no query: write lines of phrase, TAB, count", path);
    return -1;
  }
  return 0;
}

int queries_read(const char *path, struct queries **out, struct rpc_error *error) {
  struct file_queries *file = calloc(1, sizeof(*file));
  if (file == NULL) {
    rpc_error_set(error, "cannot read queries file %s: out of memory", path);
    return -1;
  }
  if (text_load(file, path, error) != 0 || text_parse(file, path, error) != 0) {
    queries_free(&file->queries);
    return -1;
  }
  *out = &file->queries;
  return 0;
}
