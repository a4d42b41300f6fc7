#include "throwing.h"

#include <stdexcept>
#include <string>

namespace {

struct Counter {
  int &count; // NOLINT(misc-non-private-member-variables-in-classes)
  ~Counter() {
    count += 10;
  }
};

// NOLINTNEXTLINE(misc-no-recursion): frames to unwind
__attribute__((noinline)) void fall(int depth, int &destroyed) {
  Counter counter{destroyed};
  if (depth == 0)
    throw std::runtime_error(std::string(100, 'x'));
  fall(depth - 1, destroyed);
}

} // namespace

extern "C" void throwing_run(void *count) {
  int destroyed = 0;
  try {
    fall(3, destroyed);
  } catch (const std::exception &) {
    *static_cast<int *>(count) += destroyed == 40 ? 1 : 0;
  }
}
