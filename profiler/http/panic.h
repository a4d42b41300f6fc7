#ifndef HTTP_PANIC_H
#define HTTP_PANIC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls work(context), which may call libmicrohttpd. Returns true when it returned. Returns false
 * with the reason in `out_reason` when libmicrohttpd panicked within: then what it panicked
 * about must not be touched again, not even to be freed.
 */
bool panic_guard(void (*work)(void *context), void *context, char *out_reason, size_t room);

#endif
