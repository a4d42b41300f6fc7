#ifndef UNWIND_TEST_PLUGIN_H
#define UNWIND_TEST_PLUGIN_H

/* A shared object that tests load and unload. */
__attribute__((visibility("default"))) int plugin_add(int a, int b);
__attribute__((visibility("default"))) long plugin_call(long (*callback)(void *), void *context);

#endif
