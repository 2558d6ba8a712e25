// The date of all runs' hosts when they begin.
#pragma once

#include <cstdint>

namespace kneepoint {

// In seconds since the epoch. It is the same for all seeds; otherwise an entry could infer the seed
// from the date.
constexpr int64_t date_s = 1'500'000'000;

}  // namespace kneepoint
