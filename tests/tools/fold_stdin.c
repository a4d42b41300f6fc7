/* Folds standard input to standard output, for tests in other languages. */

#include <stdio.h>
#include <stdlib.h>

#include "corpus/fold.h"

/* Reads to the end; returns owned bytes, or NULL. */
static char *read_all(FILE *file, size_t *out_length) {
  char *text = NULL;
  size_t length = 0;
  size_t room = 0;
  size_t got;
  do {
    if (length == room) {
      room = room ? 2 * room : 1 << 20;
      char *grown = realloc(text, room);
      if (!grown) {
        free(text);
        return NULL;
      }
      text = grown;
    }
    got = fread(text + length, 1, room - length, file);
    length += got;
  } while (got > 0);
  *out_length = length;
  return text;
}

int main(void) {
  size_t length;
  char *text = read_all(stdin, &length);
  char *folded = text ? corpus_fold_copy(text, length, &length) : NULL;
  int status = EXIT_FAILURE;
  if (folded && fwrite(folded, 1, length, stdout) == length && fflush(stdout) == 0)
    status = EXIT_SUCCESS;
  free(folded);
  free(text);
  return status;
}
