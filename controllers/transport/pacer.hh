// The time between packets of a paced sender.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/time.hh"

namespace kneepoint {

// A late sender catches up by at most half a gap: timers are late, but pacing must not cause
// bursts. A packet sent early, regardless of pacing, begins the gap anew.
class Pacer {
 public:
  void sent(Microseconds now_us, double gap_us) {
    const auto now = static_cast<double>(now_us);
    next_us_ = std::clamp(next_us_, now - gap_us / 2, now) + gap_us;
  }

  // When the next packet may leave.
  Microseconds next_us() const { return static_cast<Microseconds>(std::ceil(next_us_)); }

 private:
  double next_us_ = 0;
};

}  // namespace kneepoint
