#ifndef APP_ERROR_H
#define APP_ERROR_H

/*
 * Why something failed: one line without a newline that names the flag, file or
 * address, what was wrong and what to do. Written only on failure.
 */
struct app_error {
  char message[1024];
};

/* Formats the message, cut to fit; control characters become '?'. */
__attribute__((format(printf, 2, 3))) void app_error_set(struct app_error *error,
                                                         const char *format, ...);

#endif
