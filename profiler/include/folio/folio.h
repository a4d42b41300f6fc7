#ifndef FOLIO_FOLIO_H
#define FOLIO_FOLIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Folio: an embedded profiler for C and C++ programs. It records where CPU time
 * goes and who allocates, and gives profiles in the pprof format, gzipped, that
 * `go tool pprof`, Speedscope, Parca and Pyroscope read.
 *
 *   struct folio_error error;
 *   if (folio_start(NULL, &error) != FOLIO_OK) ...error.message...
 *   struct folio_session *session;
 *   folio_session_start(FOLIO_CPU, 0, &session, &error);
 *   ...
 *   struct folio_profile *profile;
 *   folio_session_stop(session, &profile, &error);
 *   folio_profile_write(profile, "cpu.pb.gz", &error);
 *   folio_profile_free(profile);
 *   folio_stop();
 *
 * Unless a declaration says otherwise, functions may be called by any thread, but
 * not from a signal handler. Times are in nanoseconds, sizes in bytes.
 */

enum folio_status {
  FOLIO_OK = 0,
  FOLIO_INVALID,     /* an argument is not possible */
  FOLIO_NOT_STARTED, /* folio_start() did not run, or folio_stop() did since */
  FOLIO_ALREADY,     /* it is started already */
  FOLIO_UNSUPPORTED, /* this process or machine cannot do it */
  FOLIO_NO_MEMORY,
  FOLIO_SYSTEM, /* a system call failed: the message says which and why */
};

/* One line without a newline: what was wrong and what to do. Written only on failure. */
struct folio_error {
  char message[512];
};

enum folio_type {
  FOLIO_CPU,    /* CPU time by stack */
  FOLIO_HEAP,   /* live heap at the moment, with what was allocated since the start */
  FOLIO_ALLOCS, /* what was allocated: the same samples, read as allocation */
};

/* One line without a newline. It may be called by Folio's own thread. */
typedef void folio_log(void *context, const char *line);

/* Zero in any field but `size` means the default. */
struct folio_options {
  size_t size;          /* sizeof(struct folio_options) */
  uint32_t cpu_hz;      /* samples a second of CPU time a thread; 100, at most 1000 */
  bool heap;            /* sample allocations */
  uint64_t heap_period; /* mean bytes allocated between two samples; 524,288 */
  uint64_t seed;        /* of the draw of allocations to sample; 0 is random */
  size_t buffer_bytes;  /* what handlers may record between two readings; 4 MiB */
  uint32_t max_threads; /* threads profiled at once; 4,096 */
  uint32_t max_live;    /* sampled live objects tracked at once; 65,536 */
  uint32_t max_stacks;  /* distinct stacks kept a profile type; 65,536 */
  folio_log *log;       /* takes log lines; NULL drops them */
  void *log_context;
};

/*
 * Starts the profiler: its reader thread, its signal handler for SIGPROF, its
 * unwind tables. Sampling begins with the first session, heap sampling (where asked
 * for) at once. `options` may be NULL. Not while another thread calls
 * folio_start() or folio_stop().
 */
enum folio_status folio_start(const struct folio_options *options, struct folio_error *error);

/*
 * Ends all sessions, disarms every timer, and joins the reader. The handler of
 * SIGPROF stays, since a signal may still be pending: it then does nothing.
 */
void folio_stop(void);

/* A recording in progress; any number at once, of the same type too. */
struct folio_session;

/* A finished profile. */
struct folio_profile;

/*
 * Starts recording. With `duration_ns` over 0 it ends by itself after that time;
 * else it records until it is stopped.
 */
enum folio_status folio_session_start(enum folio_type type, int64_t duration_ns,
                                      struct folio_session **out, struct folio_error *error);

/* Waits until the session's duration has passed, or folio_stop(). At once if it has none. */
void folio_session_wait(struct folio_session *session);

/*
 * Ends the recording; its profile is made by folio_session_stop(). So sessions that belong together
 * end together, and not one by one as their profiles are made.
 */
void folio_session_end(struct folio_session *session);

/*
 * Ends the recording, gives its profile (owned) and frees the session. For
 * FOLIO_CPU and FOLIO_ALLOCS the profile covers the session's time alone; for
 * FOLIO_HEAP in-use values are those of now and the allocated ones the session's.
 * The session is freed on failure too. `out` may be NULL: then it is dropped.
 */
enum folio_status folio_session_stop(struct folio_session *session, struct folio_profile **out,
                                     struct folio_error *error);

/*
 * FOLIO_HEAP or FOLIO_ALLOCS since folio_start(): cumulative values never fall
 * from one snapshot to the next. The profile is owned.
 */
enum folio_status folio_snapshot(enum folio_type type, struct folio_profile **out,
                                 struct folio_error *error);

/* The gzipped pprof message; borrowed for the profile's life. */
const void *folio_profile_bytes(const struct folio_profile *profile, size_t *out_size);

/* When it began, in nanoseconds since 1970, and how long it lasted. */
int64_t folio_profile_time_ns(const struct folio_profile *profile);
int64_t folio_profile_duration_ns(const struct folio_profile *profile);

/* Writes it to a file, all or nothing: the name appears when the file is complete. */
enum folio_status folio_profile_write(const struct folio_profile *profile, const char *path,
                                      struct folio_error *error);

/* Takes NULL. */
void folio_profile_free(struct folio_profile *profile);

/*
 * Sets a label of the calling thread: samples of every type taken on it carry
 * the label until it is set anew, or removed by a NULL value. At most 8 labels a
 * thread and 4,096 distinct keys and values a process: past that FOLIO_NO_MEMORY.
 * A label may be set before folio_start(). Quick: a hash look-up.
 */
enum folio_status folio_label_set(const char *key, const char *value);

/* Folio's own losses and cost since folio_start(). */
struct folio_stats {
  size_t size;          /* sizeof(struct folio_stats), set by the caller */
  uint64_t cpu_samples; /* recorded, each with its weight in ticks */
  uint64_t heap_samples;
  uint64_t lost_buffer_full; /* samples dropped because the reader was late */
  uint64_t lost_no_thread;   /* ... because more threads ran than max_threads */
  uint64_t lost_nested;      /* ... because a signal handler allocated in the middle of a hook */
  uint64_t lost_live_full;   /* sampled objects not tracked because of max_live */
  uint64_t truncated;        /* stacks cut because they are too deep */
  uint64_t incomplete;       /* stacks that end where no rule or memory led on */
  uint64_t handler_ns;       /* time spent in the signal handler */
  uint64_t reader_cpu_ns;    /* CPU time of Folio's own thread, and of making profiles */
  uint64_t memory_bytes;     /* held by Folio */
};

enum folio_status folio_stats(struct folio_stats *out);

/* Such as "0.1.0". Static storage. Async-signal-safe. */
const char *folio_version(void);

#ifdef __cplusplus
}
#endif

#endif
