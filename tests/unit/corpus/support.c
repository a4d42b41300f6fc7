#include "support.h"

#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
  NOBODY = 65534
};

int folder_setup(void **state) {
  char *folder = strdup("/tmp/shakesapp-corpus-XXXXXX");
  assert_non_null(folder);
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chmod(folder, 0755), 0);
  *state = folder;
  return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status;
  (void)type;
  (void)walk;
  return remove(path);
}

int folder_teardown(void **state) {
  int result = nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(*state);
  return result;
}

char *path_join(const char *folder, const char *name) {
  char *path;
  assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
  return path;
}

void write_bytes(const char *folder, const char *name, const void *bytes, size_t length) {
  char *path = path_join(folder, name);
  FILE *file = fopen(path, "wbe");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
  free(path);
}

void write_text(const char *folder, const char *name, const char *text) {
  write_bytes(folder, name, text, strlen(text));
}

/* Starts the shell command in `folder`, with its output in the pipe's end. */
static pid_t spawn_shell(const char *folder, const char *command, int output_fd) {
  const char *const arguments[] = {"sh", "-c", command, NULL};
  posix_spawn_file_actions_t actions;
  assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
  assert_int_equal(posix_spawn_file_actions_addchdir_np(&actions, folder), 0);
  assert_int_equal(posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO), 0);
  pid_t child;
  assert_int_equal(
      posix_spawn(&child, "/bin/sh", &actions, NULL, (char *const *)(uintptr_t)arguments, environ),
      0);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

char *shell_output(const char *folder, const char *command) {
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  pid_t child = spawn_shell(folder, command, ends[1]);
  close(ends[1]);
  FILE *output = fdopen(ends[0], "r");
  assert_non_null(output);
  char text[256];
  size_t length = fread(text, 1, sizeof text - 1, output);
  fclose(output);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  if (length > 0 && text[length - 1] == '\n')
    length--;
  return strndup(text, length);
}

void assert_holds(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("\"%s\" does not hold \"%s\"", text, part);
}

static void become_nobody(void) {
  if (geteuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
    _exit(99);
}

int run_unprivileged(action *run, const char *argument, struct corpus_error *error) {
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    become_nobody();
    struct corpus_error why = {""};
    int result = run(argument, &why);
    ssize_t sent = write(ends[1], why.message, sizeof why.message);
    _exit(sent == sizeof why.message && (result == 0 || result == -1) ? -result : 98);
  }
  close(ends[1]);
  assert_int_equal(read(ends[0], error->message, sizeof error->message), sizeof error->message);
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_in_range(WEXITSTATUS(status), 0, 1);
  return -WEXITSTATUS(status);
}
