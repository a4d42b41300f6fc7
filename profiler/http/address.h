#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include <stdint.h>

#include "folio/folio.h"

/* `host:port` or `[host]:port`, taken apart. */
struct address {
  char host[256]; /* a name or an IP address, without brackets */
  char port[6];   /* decimal; "0" lets the kernel pick one */
};

/* FOLIO_INVALID and a message when the text has another form. */
enum folio_status address_parse(const char *text, struct address *out, struct folio_error *error);

/*
 * Listens on the first address of the host that can be had. *out_socket is owned, does not
 * block and is closed on exec; *out_port is the port bound.
 */
enum folio_status address_listen(const struct address *address, int *out_socket, uint16_t *out_port,
                                 struct folio_error *error);

#endif
