#ifndef HTTP_HOST_H
#define HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a request with this Host header may be answered by a server that was told to listen on
 * `listen_host` (a name or an address, without brackets and port). Any port will do: the client
 * may come through a forwarded one.
 */
bool host_allowed(const char *header, size_t length, const char *listen_host);

#endif
