#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <stddef.h>

#include <microhttpd.h>

#include "folio/folio.h"

/*
 * Each queues one answer, with the headers that Go's net/http/pprof sends, and returns what
 * libmicrohttpd's handler has to: MHD_NO, out of memory, closes the connection.
 */

/* A line of text. */
enum MHD_Result answer_error(struct MHD_Connection *connection, unsigned int status,
                             const char *message);

/* A profile, to be saved as `file_name`. Takes it. */
enum MHD_Result answer_profile(struct MHD_Connection *connection, const char *file_name,
                               struct folio_profile *profile);

/* The headers of such an answer alone, whose length is not known; then the connection ends. */
enum MHD_Result answer_profile_head(struct MHD_Connection *connection, const char *file_name);

/* A page of `length` bytes, allocated with malloc(). Takes it. */
enum MHD_Result answer_page(struct MHD_Connection *connection, char *html, size_t length);

/* The way to another path. */
enum MHD_Result answer_redirect(struct MHD_Connection *connection, const char *path);

#endif
