/*
 * A web page can point a name of its own at 127.0.0.1 and then read this server with the
 * visitor's browser (DNS rebinding). The browser still sends that name as Host, so it is enough
 * to answer to known names. An IP address as Host is never such a name: it is refused
 * only because it is not what the server was told to be.
 */
#include "host.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define HOST_BYTES_MAX 255

struct literal {
  int family; /* AF_INET, AF_INET6, or AF_UNSPEC for a name */
  unsigned char bytes[16];
};

static struct literal read_literal(const char *host) {
  struct literal literal = {.family = AF_UNSPEC};
  if (inet_pton(AF_INET, host, literal.bytes) == 1)
    literal.family = AF_INET;
  else if (inet_pton(AF_INET6, host, literal.bytes) == 1)
    literal.family = AF_INET6;
  return literal;
}

static bool is_wildcard(const struct literal *literal) {
  static const unsigned char zeros[16];
  return literal->family != AF_UNSPEC && memcmp(literal->bytes, zeros, sizeof(zeros)) == 0;
}

static bool same_host(const char *one, const char *other) {
  struct literal first = read_literal(one);
  struct literal second = read_literal(other);
  if (first.family != second.family)
    return false;
  if (first.family == AF_UNSPEC)
    return strcasecmp(one, other) == 0;
  return memcmp(first.bytes, second.bytes, sizeof(first.bytes)) == 0;
}

static bool is_port(const char *text) {
  return *text == '\0' || (*text == ':' && strspn(text + 1, "0123456789") == strlen(text + 1));
}

/* Cuts `header` down to the host alone. Returns false when it is not `host` or `host:port`. */
static bool cut_host(char *header, const char **out_host) {
  bool bracketed = header[0] == '[';
  char *host = bracketed ? header + 1 : header;
  char *end = host + strcspn(host, bracketed ? "]" : ":");
  const char *port = end;
  if (bracketed && *end == ']')
    port = end + 1;
  else if (bracketed)
    return false;
  if (end == host || !is_port(port))
    return false;
  *end = '\0';
  *out_host = host;
  return bracketed == (strchr(host, ':') != NULL);
}

bool host_allowed(const char *header, size_t length, const char *listen_host) {
  while (length > 0 && (*header == ' ' || *header == '\t')) {
    header++;
    length--;
  }
  while (length > 0 && (header[length - 1] == ' ' || header[length - 1] == '\t'))
    length--;
  if (length > HOST_BYTES_MAX || memchr(header, '\0', length) != NULL)
    return false;
  char copy[HOST_BYTES_MAX + 1];
  memcpy(copy, header, length);
  copy[length] = '\0';
  const char *host;
  if (!cut_host(copy, &host))
    return false;
  if (same_host(host, "localhost") || same_host(host, "127.0.0.1") || same_host(host, "::1"))
    return true;
  struct literal listens_on = read_literal(listen_host);
  if (is_wildcard(&listens_on))
    return read_literal(host).family != AF_UNSPEC;
  return same_host(host, listen_host);
}
