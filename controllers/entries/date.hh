// The date of a run's hosts when it begins.
#pragma once

#include <cstdint>

#include "common/random.hh"

namespace kneepoint {

constexpr int64_t first_date_s = 1'500'000'000;

// Seconds since the epoch; it differs between seeds.
inline int64_t date_s(uint64_t seed) {
  constexpr uint64_t dates = 100'000'000;
  return first_date_s + static_cast<int64_t>(Random(seed).next() % dates);
}

}  // namespace kneepoint
