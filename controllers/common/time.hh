// Virtual time: whole microseconds since the link started. Clocks that show whole milliseconds
// truncate it, as mahimahi's and the contest kit's do.
#pragma once

#include <cstdint>
#include <limits>

namespace kneepoint {

using Microseconds = int64_t;
using Milliseconds = int64_t;

constexpr int64_t never = std::numeric_limits<int64_t>::max();

// Of a time that is not negative: division is cheaper without a sign.
constexpr Milliseconds whole_ms(Microseconds time_us) {
  return static_cast<Milliseconds>(static_cast<uint64_t>(time_us) / 1000);
}

// No run, no trace and no link's log is longer than a day.
constexpr double longest_run_s = 86'400;
constexpr Milliseconds longest_run_ms = 86'400'000;

// A millisecond as packets carry it: a day fits.
constexpr int32_t stamp(Milliseconds time_ms) { return static_cast<int32_t>(time_ms); }

}  // namespace kneepoint
