// Additive increase below an RTT threshold, additive decrease above it. Report 001 exercise C.
#include <algorithm>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class DelayThreshold final : public Windowed {
 public:
  explicit DelayThreshold(Parameters& parameters)
      : Windowed(parameters, 1000),
        alpha_(parameters.real("alpha", 1, {.low = 0.1, .high = 10, .scale = Scale::log},
                               "packets/RTT", "increase: alpha/cwnd per ACK below the threshold")),
        beta_(parameters.real("beta", 10, {.low = 0.1, .high = 50, .scale = Scale::log},
                              "packets/RTT", "decrease: beta/cwnd per ACK above the threshold")),
        rtt_threshold_ms_(parameters.real("rtt_threshold_ms", 90, {.low = 45, .high = 200}, "ms",
                                          "RTT at which growth turns to decrease")) {}

  void on_ack(const Ack& ack) override {
    if (static_cast<double>(ack.rtt_ms()) < rtt_threshold_ms_) {
      cwnd_ += alpha_ / cwnd_;
    } else {
      cwnd_ = std::max(1.0, cwnd_ - beta_ / cwnd_);
    }
  }

 private:
  double alpha_;
  double beta_;
  double rtt_threshold_ms_;
};

const Registration<DelayThreshold> registration{
    "delay_threshold", "grows below an RTT threshold and shrinks above it", "report 001 C"};

}  // namespace
}  // namespace kneepoint
