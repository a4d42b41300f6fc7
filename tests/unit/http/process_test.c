/* The process around the server: its descriptors, threads, signals and forks. */
#include "http/folio_http.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_folio.h"
#include "raw_client.h"
#include "server_fixture.h"

#define DESCRIPTORS_MAX 4096

static void assert_is_served(const struct fixture *fixture) {
  struct reply reply;
  raw_get(fixture->port, "/debug/pprof/heap", &reply);
  assert_int_equal(reply.status, 200);
}

static bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

static int count_descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
    count += is_open(fd) ? 1 : 0;
  return count;
}

static void every_descriptor_is_closed_on_exec(void **state) {
  (void)state;
  bool before[DESCRIPTORS_MAX];
  for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
    before[fd] = is_open(fd);
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int connection = raw_connect(fixture.port);
  struct reply reply;
  raw_request(connection, "GET", "/debug/pprof/heap");
  raw_read(connection, false, &reply);
  int made = 0;
  for (int fd = 0; fd < DESCRIPTORS_MAX; fd++) {
    if (before[fd] || !is_open(fd))
      continue;
    made++;
    if ((fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
      fail_msg("descriptor %d is inherited by programs that are run", fd);
  }
  if (made < 5) /* listener, eventfd, epoll, libmicrohttpd's eventfd, two ends of a connection */
    fail_msg("only %d descriptors were found", made);
  close(connection);
  fixture_stop(&fixture);
}

static void stopping_closes_every_descriptor(void **state) {
  (void)state;
  int before = count_descriptors();
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int connections[10];
  for (int i = 0; i < 10; i++) {
    connections[i] = raw_connect(fixture.port);
    raw_request(connections[i], "GET", i % 2 == 0 ? "/debug/pprof/profile" : "/debug/pprof/heap");
  }
  assert_is_served(&fixture);
  fixture_stop(&fixture);
  for (int i = 0; i < 10; i++)
    close(connections[i]);
  assert_int_equal(count_descriptors(), before);
}

static void descriptors_past_1024_are_served(void **state) {
  (void)state;
  const struct rlimit limit = {.rlim_cur = DESCRIPTORS_MAX, .rlim_max = DESCRIPTORS_MAX};
  struct rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  if (before.rlim_max < DESCRIPTORS_MAX) {
    print_message("skipped: at most %" PRIu64 " descriptors are allowed\n",
                  (uint64_t)before.rlim_max);
    skip();
  }
  setrlimit(RLIMIT_NOFILE,
            &(struct rlimit){.rlim_cur = limit.rlim_cur, .rlim_max = before.rlim_max});
  int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int last = first;
  while (last < 1100)
    last = dup(first);
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int recording = raw_connect(fixture.port);
  raw_request(recording, "GET", "/debug/pprof/profile?seconds=3600");
  fake_wait_live(1);
  assert_is_served(&fixture);
  close(recording);
  fake_wait_live(0);
  fixture_stop(&fixture);
  for (int fd = first; fd <= last; fd++)
    close(fd);
  setrlimit(RLIMIT_NOFILE, &before);
}

static void without_descriptors_it_waits_without_spinning(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  struct rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 256, .rlim_max = before.rlim_max});
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int taken[256];
  int count = 0;
  for (int fd = dup(connection); fd >= 0; fd = dup(connection))
    taken[count++] = fd;
  assert_int_equal(errno, EMFILE);
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons(fixture.port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  assert_int_equal(connect(connection, (const struct sockaddr *)&address, sizeof(address)), 0);
  int64_t began_ns = fixture_now_ns();
  int64_t began_cpu_ns = fixture_cpu_ns();
  poll(NULL, 0, 300);
  double share = (double)(fixture_cpu_ns() - began_cpu_ns) / (double)(fixture_now_ns() - began_ns);
  for (int i = 0; i < count; i++)
    close(taken[i]);
  setrlimit(RLIMIT_NOFILE, &before);
  if (share > 0.5)
    fail_msg("the server takes %.0f %% of a processor without descriptors", share * 100);
  struct reply reply;
  raw_request(connection, "GET", "/debug/pprof/heap");
  raw_read(connection, false, &reply);
  assert_int_equal(reply.status, 200);
  close(connection);
  fixture_stop(&fixture);
}

/* Reads a field of /proc/self/task/TASK/status; returns false when there is none. */
static bool read_status(const char *task, const char *field, char *out, size_t room) {
  char path[300];
  snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return false;
  char line[512];
  bool found = false;
  size_t length = strlen(field);
  while (!found && fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, field, length) != 0 || line[length] != ':')
      continue;
    snprintf(out, room, "%.*s", (int)strcspn(line + length + 2, "\n"), line + length + 2);
    found = true;
  }
  fclose(file);
  return found;
}

static void its_two_threads_block_every_signal(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  assert_is_served(&fixture);
  int found = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
    char name[64];
    char blocked[64];
    if (!read_status(task->d_name, "Name", name, sizeof(name)) ||
        strncmp(name, "folio-http", 10) != 0)
      continue;
    found++;
    assert_true(read_status(task->d_name, "SigBlk", blocked, sizeof(blocked)));
    uint64_t mask = strtoull(blocked, NULL, 16);
    for (int number = 1; number <= SIGRTMAX; number++) {
      bool always = number == SIGKILL || number == SIGSTOP || (number >= 32 && number < SIGRTMIN);
      if (!always && (mask >> (number - 1) & 1) == 0)
        fail_msg("thread %s takes signal %d", name, number);
    }
  }
  closedir(tasks);
  assert_int_equal(found, 2);
  sigset_t own;
  sigprocmask(SIG_SETMASK, NULL, &own);
  assert_int_equal(sigismember(&own, SIGPIPE), 0);
  fixture_stop(&fixture);
}

static void signal_handlers_are_left_alone(void **state) {
  (void)state;
  struct sigaction before[65] = {0}; /* SIGRTMAX is 64 */
  for (int number = 1; number <= SIGRTMAX; number++)
    sigaction(number, NULL, &before[number]);
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  assert_is_served(&fixture);
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction now = {0};
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != before[number].sa_handler)
      fail_msg("the handler of signal %d was changed", number);
  }
  fixture_stop(&fixture);
}

/* The server's end of the connection from the local port `port`, or -1. */
static int find_server_end(uint16_t port) {
  for (int fd = 3; fd < DESCRIPTORS_MAX; fd++) {
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof(peer);
    if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET &&
        ntohs(peer.sin_port) == port)
      return fd;
  }
  return -1;
}

static uint16_t own_port(int connection) {
  struct sockaddr_in name = {0};
  socklen_t size = sizeof(name);
  assert_int_equal(getsockname(connection, (struct sockaddr *)&name, &size), 0);
  return ntohs(name.sin_port);
}

/* As a program does that does not know whose they are. ThreadSanitizer would call it a race. */
static void close_behind(int fd) {
  syscall(SYS_close, fd);
}

static void replace_behind(int fd, int file) {
  syscall(SYS_dup3, file, fd, O_CLOEXEC);
}

/* The server that ends is left in memory for good, so it ends with a process of its own. */
static void assert_child_passes(bool (*run)(struct fixture *fixture)) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    struct fixture fixture =
        fixture_start((struct folio_http_options){.client_timeout_ms = 3600000});
    int recording = raw_connect(fixture.port);
    raw_request(recording, "GET", "/debug/pprof/profile?seconds=3600");
    fake_wait_live(1);
    struct reply reply; /* by then the recording's client is suspended, and all is quiet */
    int idle = raw_connect(fixture.port);
    raw_request(idle, "GET", "/debug/pprof/");
    raw_read(idle, false, &reply);
    bool passed = run(&fixture);
    struct fake_counts counts = fake_counts();
    const char *last = fixture_log_last();
    passed = passed && counts.live == 0 && counts.unfreed == 0 &&
             strncmp(last, "http: the profile server has ended: ", 36) == 0;
    if (!passed)
      fprintf(stderr, "%d live sessions, %d profiles unfreed, last line \"%s\"\n", counts.live,
              counts.unfreed, last);
    _exit(passed ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static bool close_one_connection(struct fixture *fixture) {
  int connection = raw_connect(fixture->port);
  struct reply reply;
  raw_request(connection, "GET", "/debug/pprof/");
  raw_read(connection, false, &reply);
  int other_end = find_server_end(own_port(connection));
  if (other_end < 0)
    return false;
  close_behind(other_end);
  folio_http_stop(fixture->http); /* libmicrohttpd panics here */
  return true;
}

/* While a profile is being made, which nobody will take. */
static bool close_all(struct fixture *fixture) {
  int connection = raw_connect(fixture->port);
  fake_hold_making();
  raw_request(connection, "GET", "/debug/pprof/heap");
  fake_wait_making(1);
  for (int fd = 3; fd < 200; fd++)
    close_behind(fd);
  fake_let_go();
  folio_http_stop(fixture->http);
  return true;
}

/* Puts one file in the place of every descriptor; nobody may write to it. */
static bool replace_all(struct fixture *fixture) {
  char path[] = "/tmp/http-process-XXXXXX";
  int file = mkostemp(path, O_CLOEXEC);
  if (file < 0)
    return false;
  unlink(path);
  for (int fd = 3; fd < 200; fd++) {
    if (fd != file && is_open(fd))
      replace_behind(fd, file);
  }
  folio_http_stop(fixture->http);
  for (int fd = 3; fd < file; fd++) {
    if (!is_open(fd)) /* none was closed either */
      return false;
  }
  return lseek(file, 0, SEEK_END) == 0;
}

static void a_connection_closed_by_the_program_does_not_end_it(void **state) {
  (void)state;
  assert_child_passes(close_one_connection);
}

static void descriptors_closed_by_the_program_do_not_end_it(void **state) {
  (void)state;
  assert_child_passes(close_all);
}

static void descriptors_replaced_by_the_program_are_not_touched(void **state) {
  (void)state;
  assert_child_passes(replace_all);
}

static void a_child_of_fork_can_stop_its_copy(void **state) {
  (void)state;
  struct fixture fixture = fixture_start((struct folio_http_options){0});
  int recording = raw_connect(fixture.port);
  raw_request(recording, "GET", "/debug/pprof/profile?seconds=1");
  fake_wait_live(1);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    folio_http_stop(fixture.http);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  struct reply reply;
  raw_read(recording, false, &reply);
  assert_int_equal(reply.status, 200);
  assert_is_served(&fixture);
  close(recording);
  fixture_stop(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_descriptor_is_closed_on_exec),
      cmocka_unit_test(stopping_closes_every_descriptor),
      cmocka_unit_test(descriptors_past_1024_are_served),
      cmocka_unit_test(without_descriptors_it_waits_without_spinning),
      cmocka_unit_test(its_two_threads_block_every_signal),
      cmocka_unit_test(signal_handlers_are_left_alone),
      cmocka_unit_test(a_connection_closed_by_the_program_does_not_end_it),
      cmocka_unit_test(descriptors_closed_by_the_program_do_not_end_it),
      cmocka_unit_test(descriptors_replaced_by_the_program_are_not_touched),
      cmocka_unit_test(a_child_of_fork_can_stop_its_copy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
