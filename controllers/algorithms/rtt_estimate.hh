// Statistics of RTT samples.
#pragma once

#include <algorithm>

#include "algorithms/controller.hh"

namespace kneepoint {

// Smoothed and minimum RTT: srtt = gain * srtt + (1 - gain) * rtt, where `gain` is the weight of
// the old value and the first sample is the initial value (Jacobson, SIGCOMM 1988).
class RttEstimate {
 public:
  RttEstimate(Parameters& parameters, double fallback)
      : gain_(parameters.real("gain", fallback, {.low = 0, .high = 0.99, .max = 1}, "1",
                              "weight of the old value in the smoothed RTT")) {}

  void add(const Ack& ack) {
    // At least one tick of the clock, so that ratios are finite.
    const double rtt_ms = std::max(static_cast<double>(ack.rtt_ms()), 1.0);
    smoothed_ms_ = has_sample() ? gain_ * smoothed_ms_ + (1 - gain_) * rtt_ms : rtt_ms;
    min_ms_ = std::min(min_ms_, rtt_ms);
  }

  bool has_sample() const { return min_ms_ < infinity; }
  double smoothed_ms() const { return smoothed_ms_; }
  double min_ms() const { return min_ms_; }

 private:
  double gain_;
  double smoothed_ms_ = 0;
  double min_ms_ = infinity;
};

}  // namespace kneepoint
