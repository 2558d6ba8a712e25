// Virtual time: whole microseconds since the link started. Clocks that show whole milliseconds
// truncate it, as mahimahi's and the contest kit's do.
#pragma once

#include <cstdint>
#include <limits>

namespace kneepoint {

using Microseconds = int64_t;
using Milliseconds = int64_t;

constexpr int64_t never = std::numeric_limits<int64_t>::max();
// In milliseconds, so early that it can be converted into microseconds and added to.
constexpr Milliseconds never_ms = never / 1024;
// That in microseconds.
constexpr Microseconds beyond_us = never_ms * 1000;

// Of a time in [0, 2^54) us, centuries: the upper half of its product with 2^64 / 1000, rounded up,
// is one multiplication where a division would be several operations.
constexpr Milliseconds whole_ms(Microseconds time_us) {
  __extension__ using Product = unsigned __int128;
  constexpr uint64_t thousandth = std::numeric_limits<uint64_t>::max() / 1000 + 1;
  return static_cast<Milliseconds>((Product{thousandth} * static_cast<uint64_t>(time_us)) >> 64);
}

// No run, no trace and no link's log is longer than a day.
constexpr double longest_run_s = 86'400;
constexpr Milliseconds longest_run_ms = 86'400'000;

// A millisecond as packets carry it: a day fits.
constexpr int32_t stamp(Milliseconds time_ms) { return static_cast<int32_t>(time_ms); }

}  // namespace kneepoint
