// Additive steps while the smoothed RTT is outside a band, none inside it. Report 002 part C.
#include <algorithm>

#include "algorithms/registry.hh"
#include "algorithms/rtt_estimate.hh"

namespace kneepoint {
namespace {

class DelayBand final : public Windowed {
 public:
  explicit DelayBand(Parameters& parameters)
      : Windowed(parameters, 1000),
        low_ms_(parameters.real("low_ms", 80, {.low = 45, .high = 150}, "ms",
                                "the window grows while the smoothed RTT is below")),
        high_ms_(parameters.real("high_ms", 100, {.low = 50, .high = 200}, "ms",
                                 "the window shrinks while the smoothed RTT is above")),
        increase_(parameters.real("increase", 2, {.low = 0.1, .high = 20, .scale = Scale::log},
                                  "packets/RTT", "increase: increase/cwnd per acknowledgment")),
        decrease_(parameters.real("decrease", 2, {.low = 0.1, .high = 50, .scale = Scale::log},
                                  "packets/RTT", "decrease: decrease/cwnd per acknowledgment")),
        rtt_(parameters, 0.9) {}

  void on_ack(const Ack& ack) override {
    rtt_.add(ack);
    if (rtt_.smoothed_ms() < low_ms_) {
      cwnd_ += increase_ / cwnd_;
    } else if (rtt_.smoothed_ms() > high_ms_) {
      cwnd_ = std::max(1.0, cwnd_ - decrease_ / cwnd_);
    }
  }

 private:
  double low_ms_;
  double high_ms_;
  double increase_;
  double decrease_;
  RttEstimate rtt_;
};

const Registration<DelayBand> registration{
    "delay_band", "moves its window while the smoothed RTT is outside a band", "report 002 C"};

}  // namespace
}  // namespace kneepoint
