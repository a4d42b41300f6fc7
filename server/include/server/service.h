#ifndef SERVER_SERVICE_H
#define SERVER_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "match/match.h"
#include "rpc/server.h"

/* shakesapp.ShakespeareService over one corpus with one version of the matching code. */
struct service;

/*
 * Prepares `version` over `corpus`; both are borrowed for the service's life. Samples
 * of the profiler carry method and version, and with `label_query` the query.
 * Returns 0 and an owned service, or -1 and fills *error.
 */
int service_create(const struct match_version *version, const struct corpus *corpus,
                   bool label_query, struct service **out, struct match_error *error);

/* After the server that serves it was destroyed. Takes NULL. */
void service_destroy(struct service *service);

/* The methods to hand to rpc_server_start(): borrowed for the service's life. */
const struct rpc_method *service_methods(const struct service *service, size_t *out_count);

#endif
