#ifndef TESTS_CORPUS_SUPPORT_H
#define TESTS_CORPUS_SUPPORT_H

#include <stddef.h>

#include "corpus/corpus.h"

/* cmocka fixtures: *state is the path of a fresh folder that every user may enter. */
int folder_setup(void **state);
int folder_teardown(void **state);

/* "folder/name", to be freed. */
char *path_join(const char *folder, const char *name);

void write_bytes(const char *folder, const char *name, const void *bytes, size_t length);
void write_text(const char *folder, const char *name, const char *text);

/* What `command`, a shell command, prints in `folder` without the last newline; to be freed. */
char *shell_output(const char *folder, const char *command);

/* Fails with both texts unless `text` holds `part`. */
void assert_holds(const char *text, const char *part);

/*
 * Runs the action in a child process that is not root, since root may read and
 * write everything. Returns what the action returned, and its error.
 */
typedef int action(const char *argument, struct corpus_error *error);
int run_unprivileged(action *run, const char *argument, struct corpus_error *error);

#endif
