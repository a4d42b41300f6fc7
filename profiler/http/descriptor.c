#include "descriptor.h"

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

struct descriptor descriptor_of(int fd) {
  struct stat status = {0};
  if (fstat(fd, &status) != 0)
    return (struct descriptor){.fd = -1};
  return (struct descriptor){.fd = fd, .device = status.st_dev, .inode = status.st_ino};
}

bool descriptor_is_ours(const struct descriptor *descriptor) {
  struct stat status;
  return descriptor->fd >= 0 && fstat(descriptor->fd, &status) == 0 &&
         status.st_dev == descriptor->device && status.st_ino == descriptor->inode;
}

void descriptor_close(struct descriptor *descriptor) {
  if (descriptor_is_ours(descriptor))
    close(descriptor->fd);
  descriptor->fd = -1;
}

void descriptor_wake(const struct descriptor *descriptor) {
  const uint64_t one = 1;
  if (!descriptor_is_ours(descriptor))
    return;
  ssize_t written = write(descriptor->fd, &one, sizeof(one));
  (void)written; /* it fails when the counter is full: then it is readable already */
}
