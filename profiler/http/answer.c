#include "answer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct header {
  const char *name;
  const char *value;
};

/* Adds the headers that are not NULL, queues the answer and gives up our share of it. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned int status,
                             struct MHD_Response *response, const struct header *headers,
                             size_t count) {
  if (response == NULL)
    return MHD_NO;
  enum MHD_Result outcome = MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  for (size_t i = 0; i < count && outcome == MHD_YES; i++) {
    if (headers[i].value != NULL)
      outcome = MHD_add_response_header(response, headers[i].name, headers[i].value);
  }
  if (outcome == MHD_YES)
    outcome = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return outcome;
}

enum MHD_Result answer_error(struct MHD_Connection *connection, unsigned int status,
                             const char *message) {
  char line[sizeof(((struct folio_error *)NULL)->message) + 64];
  int length = snprintf(line, sizeof(line), "%.*s\n", (int)sizeof(line) - 2, message);
  const struct header headers[] = {
      {"Content-Type", "text/plain; charset=utf-8"},
      {"X-Go-Pprof", "1"},
      {"Allow", status == MHD_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD" : NULL},
  };
  struct MHD_Response *response =
      MHD_create_response_from_buffer((size_t)length, line, MHD_RESPMEM_MUST_COPY);
  return queue(connection, status, response, headers, 3);
}

static enum MHD_Result queue_binary(struct MHD_Connection *connection, const char *file_name,
                                    struct MHD_Response *response) {
  char disposition[64];
  snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"", file_name);
  const struct header headers[] = {
      {"Content-Type", "application/octet-stream"},
      {"Content-Disposition", disposition},
  };
  return queue(connection, MHD_HTTP_OK, response, headers, 2);
}

static void free_profile(void *profile) {
  folio_profile_free(profile);
}

enum MHD_Result answer_profile(struct MHD_Connection *connection, const char *file_name,
                               struct folio_profile *profile) {
  size_t size;
  const void *bytes = folio_profile_bytes(profile, &size);
  /* libmicrohttpd's parameter is not const, but it only reads. */
  struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
      size, (void *)(uintptr_t)bytes, free_profile, profile);
  if (response == NULL)
    folio_profile_free(profile);
  return queue_binary(connection, file_name, response);
}

/* The type is libmicrohttpd's. NOLINTNEXTLINE(readability-non-const-parameter) */
static ssize_t read_nothing(void *context, uint64_t position, char *buffer, size_t room) {
  (void)context;
  (void)position;
  (void)buffer;
  (void)room;
  return MHD_CONTENT_READER_END_OF_STREAM;
}

enum MHD_Result answer_profile_head(struct MHD_Connection *connection, const char *file_name) {
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_nothing, NULL, NULL);
  /* Else libmicrohttpd 0.9.75 ends the body, which is not there, with an empty chunk. */
  if (response != NULL)
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
  return queue_binary(connection, file_name, response);
}

enum MHD_Result answer_page(struct MHD_Connection *connection, char *html, size_t length) {
  const struct header headers[] = {{"Content-Type", "text/html; charset=utf-8"}};
  struct MHD_Response *response =
      MHD_create_response_from_buffer(length, html, MHD_RESPMEM_MUST_FREE);
  if (response == NULL)
    free(html);
  return queue(connection, MHD_HTTP_OK, response, headers, 1);
}

enum MHD_Result answer_redirect(struct MHD_Connection *connection, const char *path) {
  const struct header headers[] = {{"Location", path}};
  struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
  return queue(connection, MHD_HTTP_FOUND, response, headers, 1);
}
