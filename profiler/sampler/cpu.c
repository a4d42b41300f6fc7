#include "sampler/cpu.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cpu_handler.h"

/*
 * The thread itself (when it starts and ends) and the reader both arm and disarm; whoever
 * moves the state to BUSY by compare-and-swap does it.
 */
enum timer_state {
  TIMER_NONE = 0,
  TIMER_BUSY,
  TIMER_ARMED,
};

static int64_t sample_period_ns = 10000000;
static atomic_bool running;
static bool installed;
static struct sigaction
    host_action; /* who handled SIGPROF before; written before the handler runs */

/* A SIGPROF that is not ours goes to whom it would have gone to. */
static void forward(int number, siginfo_t *info, void *context) {
  if ((host_action.sa_flags & SA_SIGINFO) != 0)
    host_action.sa_sigaction(number, info, context);
  else if (host_action.sa_handler != SIG_DFL && host_action.sa_handler != SIG_IGN)
    host_action.sa_handler(number);
}

static void on_sigprof(int number, siginfo_t *info, void *context) {
  if (!cpu_handle(info, context))
    forward(number, info, context);
}

/*
 * SA_RESTART, since a host is not prepared for EINTR; SA_ONSTACK, since a thread
 * that has an alternate stack may be on one that is too small for any handler.
 */
int cpu_install(void) {
  if (installed)
    return 0;
  struct sigaction action = {.sa_sigaction = on_sigprof,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGPROF, NULL, &host_action) != 0 || sigaction(SIGPROF, &action, NULL) != 0)
    return -1;
  installed = true;
  return 0;
}

void cpu_set_period(int64_t period_ns) {
  sample_period_ns = period_ns;
}

bool cpu_running(void) {
  return atomic_load_explicit(&running, memory_order_acquire);
}

void cpu_set_running(bool now_running) {
  atomic_store_explicit(&running, now_running, memory_order_release);
}

/* The CPU clock of another thread of this process: clock_getcpuclockid(3) has no such call. */
static clockid_t cpu_clock_of(int tid) {
  enum {
    PER_THREAD = 4,
    SCHEDULED = 2
  }; /* linux/posix-timers.h */
  return (clockid_t)((~(unsigned)tid << 3) | PER_THREAD | SCHEDULED);
}

static int64_t first_delay_ns(void) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
    random = (uint64_t)gettid() * UINT64_C(0x9E3779B97F4A7C15);
  return 1 + (int64_t)(random % (uint64_t)sample_period_ns);
}

static struct timespec timespec_of(int64_t ns) {
  return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static bool take_timer(struct thread_slot *slot, int from) {
  return atomic_compare_exchange_strong_explicit(&slot->timer_state, &from, TIMER_BUSY,
                                                 memory_order_acq_rel, memory_order_relaxed);
}

static void leave_timer(struct thread_slot *slot, int to) {
  atomic_store_explicit(&slot->timer_state, to, memory_order_release);
}

static int start_timer(struct thread_slot *slot) {
  int tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
  event.sigev_value.sival_ptr = slot;
  event._sigev_un._tid = tid;
  if (timer_create(cpu_clock_of(tid), &event, &slot->timer) != 0)
    return -1;
  struct itimerspec times = {.it_value = timespec_of(first_delay_ns()),
                             .it_interval = timespec_of(sample_period_ns)};
  if (timer_settime(slot->timer, 0, &times, NULL) == 0)
    return 0;
  int failure = errno;
  timer_delete(slot->timer);
  errno = failure;
  return -1;
}

int cpu_arm(struct thread_slot *slot) {
  if (!take_timer(slot, TIMER_NONE))
    return 0;
  int outcome = start_timer(slot);
  leave_timer(slot, outcome == 0 ? TIMER_ARMED : TIMER_NONE);
  return outcome;
}

void cpu_disarm(struct thread_slot *slot) {
  if (!take_timer(slot, TIMER_ARMED))
    return;
  timer_delete(slot->timer);
  leave_timer(slot, TIMER_NONE);
}

int64_t cpu_thread_time_ns(int tid) {
  struct timespec time;
  if (clock_gettime(cpu_clock_of(tid), &time) != 0)
    return -1;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The kernel takes the time off a timer whose thread was reaped. */
bool cpu_timer_dead(struct thread_slot *slot) {
  if (!take_timer(slot, TIMER_ARMED))
    return false;
  struct itimerspec times;
  bool dead = timer_gettime(slot->timer, &times) == 0 && times.it_value.tv_sec == 0 &&
              times.it_value.tv_nsec == 0;
  leave_timer(slot, TIMER_ARMED);
  return dead;
}
