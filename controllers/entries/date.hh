// What the clocks of a run's hosts show when it begins.
#pragma once

#include <cstdint>

#include "common/random.hh"

namespace kneepoint {

// Seconds since the epoch; it differs between seeds.
inline int64_t date_s(uint64_t seed) {
  constexpr int64_t first_s = 1'500'000'000;
  constexpr uint64_t dates = 100'000'000;
  return first_s + static_cast<int64_t>(Random(seed).next() % dates);
}

}  // namespace kneepoint
