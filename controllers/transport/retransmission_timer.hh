// The retransmission timer of TCP, and the RTT by which it is set: RFC 6298.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "common/time.hh"
#include "transport/tcp.hh"

namespace kneepoint {

class RetransmissionTimer {
 public:
  explicit RetransmissionTimer(const TcpSettings& settings)
      : min_us_(settings.min_rto_us), min_margin_us_(settings.min_rto_margin_us) {}

  // Sections 2.2 and 2.3: SRTT and RTTVAR by 1/8 and 1/4, and
  // RTO = max(minimum, SRTT + max(minimum margin, 4 RTTVAR)).
  void measured(Microseconds rtt_us) {
    if (smoothed_us_ < 0) {
      smoothed_us_ = rtt_us;
      variation_us_ = rtt_us / 2;
    } else {
      variation_us_ = (3 * variation_us_ + std::abs(smoothed_us_ - rtt_us)) / 4;
      smoothed_us_ = (7 * smoothed_us_ + rtt_us) / 8;
    }
    rto_us_ = std::clamp(smoothed_us_ + std::max(min_margin_us_, 4 * variation_us_), min_us_,
                         longest_us_);
  }
  // Section 5.5: the timer has expired.
  void back_off() { rto_us_ = std::min(2 * rto_us_, longest_us_); }

  void start(Microseconds now_us) { expires_us_ = now_us + rto_us_; }
  void stop() { expires_us_ = never; }
  Microseconds expires_us() const { return expires_us_; }

  Microseconds smoothed_us() const { return smoothed_us_; }  // -1: no RTT was measured

 private:
  static constexpr Microseconds longest_us_ = 60'000'000;

  Microseconds min_us_;
  Microseconds min_margin_us_;
  Microseconds smoothed_us_ = -1;
  Microseconds variation_us_ = 0;
  Microseconds rto_us_ = 1'000'000;
  Microseconds expires_us_ = never;
};

}  // namespace kneepoint
