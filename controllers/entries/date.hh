// The date of all runs' hosts when they begin.
#pragma once

#include <cstdint>

namespace kneepoint {

// In seconds since the epoch. It is the same for all seeds, which an entry could tell by it.
constexpr int64_t date_s = 1'500'000'000;

}  // namespace kneepoint
