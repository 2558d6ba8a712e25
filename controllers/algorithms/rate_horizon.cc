// The window is the number of packets that arrive within a horizon at the rate of acknowledgments.
// Contest reports.
#include <algorithm>
#include <optional>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class RateHorizon final : public Windowed {
 public:
  explicit RateHorizon(Parameters& parameters)
      : Windowed(parameters, 50),
        horizon_s_(parameters.real("horizon_ms", 60, {.low = 30, .high = 150, .min = 1}, "ms",
                                   "time in which the packets in flight arrive") /
                   1000),
        time_constant_s_(parameters.real("time_constant_ms", 100,
                                         {.low = 10, .high = 1000, .min = 1, .scale = Scale::log},
                                         "ms", "of the filter of the rate") /
                         1000),
        min_(parameters.real("min_window", 2, {.low = 1, .high = 10, .min = 1}, "packets",
                             "minimum window")),
        rate_(cwnd_ / horizon_s_) {}

  void on_ack(const Ack& ack) override {
    const double elapsed_s = now_s(ack) - last_s_.value_or(now_s(ack));
    last_s_ = now_s(ack);
    // A first-order filter of the rate since the last acknowledgment; that rate may be infinite.
    rate_ = (time_constant_s_ * rate_ + static_cast<double>(ack.acknowledged)) /
            (time_constant_s_ + elapsed_s);
    cwnd_ = std::clamp(rate_ * horizon_s_, min_, widest_window);
  }

 private:
  double horizon_s_;
  double time_constant_s_;
  double min_;
  double rate_;  // packets/s
  std::optional<double> last_s_{};
};

const Registration<RateHorizon> registration{
    "rate_horizon", "the window that the rate of ACKs carries within a horizon", "contest reports"};

}  // namespace
}  // namespace kneepoint
