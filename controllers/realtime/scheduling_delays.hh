// Scheduling delays: from the time when a program should act until it does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// The delays that the host added to a program's actions: from the receipt of a datagram until it
// was read, or from the time of a timer until it was served.
class SchedulingDelays {
 public:
  void add(Microseconds due_us, Microseconds done_us) {
    // The clock may be set back in between.
    delays_us_.push_back(static_cast<uint32_t>(std::max<Microseconds>(0, done_us - due_us)));
  }

  // Element floor(0.99 n) of the sorted delays; 0 if there are none.
  double p99_us() {
    if (delays_us_.empty()) return 0;
    const auto nth = delays_us_.begin() + static_cast<std::ptrdiff_t>(delays_us_.size() * 99 / 100);
    std::ranges::nth_element(delays_us_, nth);
    return *nth;
  }

  // Element k is the delay that one action in 2^k reaches: element 0 is the minimum delay, 1 the
  // median, the last element the greatest.
  std::vector<double> by_rarity_us() {
    std::ranges::sort(delays_us_);
    std::vector<double> delays_us;
    for (size_t rank = delays_us_.size(); rank > 0; rank /= 2) {
      delays_us.push_back(delays_us_[delays_us_.size() - rank]);
    }
    return delays_us;
  }

 private:
  std::vector<uint32_t> delays_us_{};
};

}  // namespace kneepoint
