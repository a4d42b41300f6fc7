#ifndef HTTP_DESCRIPTOR_H
#define HTTP_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A file descriptor, and what it refers to. Programs that close every descriptor, to become a
 * daemon, close ours too, and then the number may stand for a file of theirs.
 */
struct descriptor {
  int fd; /* -1: none */
  dev_t device;
  ino_t inode;
};

/* Takes `fd`. */
struct descriptor descriptor_of(int fd);

/*
 * Whether the number still stands for the same thing. Sockets are told apart; all eventfds and
 * epoll descriptors look the same.
 */
bool descriptor_is_ours(const struct descriptor *descriptor);

/* Closes it if it is ours. */
void descriptor_close(struct descriptor *descriptor);

/* Makes an eventfd readable if it is ours. Any thread. */
void descriptor_wake(const struct descriptor *descriptor);

#endif
