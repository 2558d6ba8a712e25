// Growth by whole packets, as in Linux.
#pragma once

#include <cmath>

namespace kneepoint {

// The window grows by one packet for every `packets_for_one` acknowledged, and the remainder
// carries over (tcp_cong_avoid_ai, net/ipv4/tcp_cong.c).
class WholeWindow {
 public:
  double grow(double window, double packets_for_one, double acknowledged) {
    if (acknowledged_ >= packets_for_one) {
      acknowledged_ = 0;
      ++window;
    }
    acknowledged_ += acknowledged;
    const double more = std::floor(acknowledged_ / packets_for_one);
    acknowledged_ -= more * packets_for_one;
    return window + more;
  }

  // After a loss.
  void begin_anew() { acknowledged_ = 0; }

 private:
  double acknowledged_ = 0;
};

}  // namespace kneepoint
