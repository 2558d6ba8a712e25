// The host's randomness, drawn from the run's seed.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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
  constexpr size_t max = 256;
  if (bytes > max) {
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

// The members of libstdc++'s std::random_device that are not inline; the class itself would ask the
// processor. They have the symbols' names, since this program's own C++ library may be another.
#define KNEEPOINT_NAMED(symbol) __asm__(symbol) __attribute__((visibility("default")))
#define KNEEPOINT_OF_TEXT "ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
extern "C" {
void begin_device(void*, const void*)
    KNEEPOINT_NAMED("_ZNSt13random_device7_M_init" KNEEPOINT_OF_TEXT);
void begin_old_device(void*, const void*)
    KNEEPOINT_NAMED("_ZNSt13random_device14_M_init_pretr1" KNEEPOINT_OF_TEXT);
void end_device(void*) KNEEPOINT_NAMED("_ZNSt13random_device7_M_finiEv");
unsigned draw_device(void*) KNEEPOINT_NAMED("_ZNSt13random_device9_M_getvalEv");
unsigned draw_old_device(void*) KNEEPOINT_NAMED("_ZNSt13random_device16_M_getval_pretr1Ev");
double entropy_of_device(const void*) KNEEPOINT_NAMED("_ZNKSt13random_device13_M_getentropyEv");
}

void begin_device(void*, const void*) {}
void begin_old_device(void*, const void*) {}
void end_device(void*) {}
unsigned draw_device(void*) { return arc4random(); }
unsigned draw_old_device(void*) { return arc4random(); }
double entropy_of_device(const void*) { return 32; }
