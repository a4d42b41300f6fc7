#ifndef UNWIND_TEST_THROWING_H
#define UNWIND_TEST_THROWING_H

#ifdef __cplusplus
extern "C" {
#endif

/* Throws through a few frames, each with a destructor; adds 1 to an int if all of it worked. */
void throwing_run(void *count);

#ifdef __cplusplus
}
#endif

#endif
