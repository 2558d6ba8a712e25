#include "timestamp.hh"

#include <cerrno>
#include <system_error>

namespace {

timespec now() {
  timespec time;
  if (clock_gettime(CLOCK_REALTIME, &time) != 0) {
    throw std::system_error(errno, std::generic_category(), "clock_gettime");
  }
  return time;
}

uint64_t whole_ms(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1000 + static_cast<uint64_t>(time.tv_nsec) / 1000000;
}

}  // namespace

uint64_t timestamp_ms(const timespec& time) {
  static const uint64_t start = whole_ms(now());
  return whole_ms(time) - start;
}

uint64_t timestamp_ms() { return timestamp_ms(now()); }
