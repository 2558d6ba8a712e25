// The host's randomness, drawn from the run's seed.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "entries/exports.hh"

using namespace kneepoint;

namespace {

void fill(void* place, size_t bytes) {
  auto* next = static_cast<unsigned char*>(place);
  while (bytes > 0) {
    const uint64_t drawn = virtual_host().random().next();
    const size_t now = std::min(bytes, sizeof drawn);
    std::memcpy(next, &drawn, now);
    next += now;
    bytes -= now;
  }
}

}  // namespace

KNEEPOINT_EXPORT ssize_t getrandom(void* place, size_t bytes, unsigned) {
  fill(place, bytes);
  return static_cast<ssize_t>(bytes);
}

KNEEPOINT_EXPORT int getentropy(void* place, size_t bytes) {
  constexpr size_t most = 256;
  if (bytes > most) {
    errno = EIO;
    return -1;
  }
  fill(place, bytes);
  return 0;
}

KNEEPOINT_EXPORT uint32_t arc4random() noexcept {
  return static_cast<uint32_t>(virtual_host().random().next() >> 32);
}

KNEEPOINT_EXPORT void arc4random_buf(void* place, size_t bytes) noexcept { fill(place, bytes); }

KNEEPOINT_EXPORT uint32_t arc4random_uniform(uint32_t bound) noexcept {
  return static_cast<uint32_t>((uint64_t{arc4random()} * bound) >> 32);
}

// The members of std::random_device that are not inline; the class itself asks the processor.
__attribute__((visibility("default"))) void std::random_device::_M_init(const std::string&) {}
__attribute__((visibility("default"))) void std::random_device::_M_init_pretr1(const std::string&) {
}
__attribute__((visibility("default"))) void std::random_device::_M_fini() {}
__attribute__((visibility("default"))) unsigned std::random_device::_M_getval() {
  return arc4random();
}
__attribute__((visibility("default"))) unsigned std::random_device::_M_getval_pretr1() {
  return arc4random();
}
__attribute__((visibility("default"))) double std::random_device::_M_getentropy() const noexcept {
  return 32;
}
