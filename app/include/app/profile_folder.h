#ifndef APP_PROFILE_FOLDER_H
#define APP_PROFILE_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "app/error.h"

/* The folder that profiles are stored in, one file each. */
struct profile_folder {
  char path[1024];
};

/*
 * Makes the folder `wanted` and its parents; "" is $XDG_STATE_HOME/shakesapp/profiles (by default
 * below $HOME/.local/state). Returns 0, or -1 and fills *error. Reads the environment.
 */
int profile_folder_open(const char *wanted, struct profile_folder *out, struct app_error *error);

/*
 * The path of a profile's file, such as
 * FOLDER/shakesapp-v1-cpu-20261201T091500.123Z-4711.pb.gz; `time_ns` is since 1970.
 * Returns 0, or -1 when it does not fit.
 */
int profile_folder_name(const struct profile_folder *folder, const char *service, int version,
                        const char *type, int64_t time_ns, char *out, size_t out_bytes);

#endif
