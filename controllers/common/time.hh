// Virtual time: whole microseconds since the link started. Clocks that show whole milliseconds
// truncate this time, as mahimahi's and the contest kit's do.
#pragma once

#include <cstdint>
#include <limits>

namespace kneepoint {

using Microseconds = int64_t;
using Milliseconds = int64_t;

constexpr int64_t never = std::numeric_limits<int64_t>::max();
// The same in milliseconds, small enough to be converted into microseconds and added to.
constexpr Milliseconds never_ms = never / 1024;
// never_ms in microseconds.
constexpr Microseconds beyond_us = never_ms * 1000;

// The whole milliseconds of a time in [0, 2^54) us, which is centuries. The upper half of the
// product with 2^64 / 1000, rounded up, takes one multiplication; a division would take several
// operations.
constexpr Milliseconds whole_ms(Microseconds time_us) {
  __extension__ using Product = unsigned __int128;
  constexpr uint64_t thousandth = std::numeric_limits<uint64_t>::max() / 1000 + 1;
  return static_cast<Milliseconds>((Product{thousandth} * static_cast<uint64_t>(time_us)) >> 64);
}

// No run, no trace and no link's log is longer than a day.
constexpr double longest_run_s = 86'400;
constexpr Milliseconds longest_run_ms = 86'400'000;

// A time in milliseconds as packets carry it: 32 bits hold a day.
constexpr int32_t stamp(Milliseconds time_ms) { return static_cast<int32_t>(time_ms); }

}  // namespace kneepoint
