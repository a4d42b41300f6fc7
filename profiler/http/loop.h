#ifndef HTTP_LOOP_H
#define HTTP_LOOP_H

/* The serving thread of a struct folio_http. It returns when `stopping` was set. */
void *loop_run(void *context);

#endif
