#include "app/profile_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int usual_path(struct profile_folder *out, struct app_error *error) {
  const char *state = getenv("XDG_STATE_HOME");
  const char *home = getenv("HOME");
  int length;
  if (state != NULL && state[0] == '/') {
    length = snprintf(out->path, sizeof(out->path), "%s/shakesapp/profiles", state);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(out->path, sizeof(out->path), "%s/.local/state/shakesapp/profiles", home);
  } else {
    app_error_set(error, "there is no place for profiles: set HOME or give -store FOLDER");
    return -1;
  }
  if ((size_t)length < sizeof(out->path))
    return 0;
  app_error_set(error, "the path of the folder for profiles is too long: give -store FOLDER");
  return -1;
}

/* Each parent in turn; one that exists is fine. */
static int make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    int outcome = mkdir(path, 0755);
    *slash = '/';
    if (outcome != 0 && errno != EEXIST)
      return -1;
  }
  return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : -1;
}

int profile_folder_open(const char *wanted, struct profile_folder *out, struct app_error *error) {
  struct profile_folder folder = {0};
  if (*wanted == '\0') {
    if (usual_path(&folder, error) != 0)
      return -1;
  } else if ((size_t)snprintf(folder.path, sizeof(folder.path), "%s", wanted) >=
             sizeof(folder.path)) {
    app_error_set(error, "-store: the path is over %zu bytes long", sizeof(folder.path) - 1);
    return -1;
  }
  struct stat status;
  if (make_folders(folder.path) != 0 || stat(folder.path, &status) != 0) {
    app_error_set(error, "cannot make the folder %s for profiles: %s; give another with -store",
                  folder.path, strerror(errno));
    return -1;
  }
  if (!S_ISDIR(status.st_mode) || access(folder.path, W_OK | X_OK) != 0) {
    app_error_set(error,
                  "%s is no folder that profiles can be written to; give another with -store",
                  folder.path);
    return -1;
  }
  *out = folder;
  return 0;
}

int profile_folder_name(const struct profile_folder *folder, const char *service, int version,
                        const char *type, int64_t time_ns, char *out, size_t out_bytes) {
  time_t seconds = time_ns / 1000000000;
  struct tm utc;
  char time[32];
  gmtime_r(&seconds, &utc);
  strftime(time, sizeof(time), "%Y%m%dT%H%M%S", &utc);
  int length = snprintf(out, out_bytes, "%s/%s-v%d-%s-%s.%03dZ-%d.pb.gz", folder->path, service,
                        version, type, time, (int)(time_ns / 1000000 % 1000), (int)getpid());
  return length > 0 && (size_t)length < out_bytes ? 0 : -1;
}
