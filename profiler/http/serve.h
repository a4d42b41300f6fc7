#ifndef HTTP_SERVE_H
#define HTTP_SERVE_H

#include <microhttpd.h>

/* The functions that libmicrohttpd calls, on the serving thread; `context` is a folio_http. */

/* A connection was taken or is about to be closed. */
void serve_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode code);

/* A request line is there. Returns what the others find in *request. */
void *serve_uri(void *context, const char *uri, struct MHD_Connection *connection);

/* A request's headers are there, a piece of its body, its end, or it was resumed. */
enum MHD_Result serve_request(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request);

/* A request is over, however it went. */
void serve_completed(void *context, struct MHD_Connection *connection, void **request,
                     enum MHD_RequestTerminationCode code);

#endif
