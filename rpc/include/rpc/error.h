#ifndef RPC_ERROR_H
#define RPC_ERROR_H

/*
 * Why a slow-path function of rpc/ failed: one line without a newline that
 * names what was wrong and what to do. Written only on failure.
 */
struct rpc_error {
  char message[512];
};

/* Formats the message, cut to fit. A NULL error is ignored. */
__attribute__((format(printf, 2, 3))) void rpc_error_set(struct rpc_error *error,
                                                         const char *format, ...);

#endif
