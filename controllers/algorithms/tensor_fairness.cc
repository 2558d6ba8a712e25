// Steps by the squared distance of the queueing delay to a target; above the target, a window above
// its own average falls to the average at once. Contest report.
#include <algorithm>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class TensorFairness final : public Windowed {
 public:
  explicit TensorFairness(Parameters& parameters)
      : Windowed(parameters, 60),
        delay_ms_(parameters.real("delay_ms", 18, {.low = 5, .high = 100, .min = 1}, "ms",
                                  "queueing delay at which growth turns to decrease")),
        new_share_(parameters.real("new_share", 0.1, {.low = 0.01, .high = 1, .max = 1}, "1",
                                   "weight of the window in its average")),
        increase_(parameters.real("increase", 0.6, {.low = 0.01, .high = 5, .scale = Scale::log},
                                  "packets", "increase per acknowledgment without a queue")),
        decrease_(parameters.real("decrease", 0.0125,
                                  {.low = 0.001, .high = 1, .scale = Scale::log}, "packets",
                                  "decrease per acknowledgment at twice delay_ms")),
        silence_factor_(parameters.real("silence_factor", 0.75, {.low = 0.5, .high = 1, .max = 1},
                                        "1", "multiplies the window after a silence")),
        average_(cwnd_) {}

  // The parameter keepalive_ms applies until the first RTT sample.
  double keepalive_ms() const override {
    if (min_ms_ == infinity) return Controller::keepalive_ms();
    return silence_rtts_ * min_ms_;
  }

  void on_ack(const Ack& ack) override {
    if (not measures_rtt(ack)) return;
    min_ms_ = std::min(min_ms_, rtt_ms(ack));
    const double queueing_ms = rtt_ms(ack) - min_ms_;
    average_ = new_share_ * cwnd_ + (1 - new_share_) * average_;
    if (queueing_ms < delay_ms_) {
      const double room = (delay_ms_ - queueing_ms) / delay_ms_;
      cwnd_ = std::max(cwnd_ + increase_ * room * room, average_);
    } else if (cwnd_ > average_) {
      cwnd_ = average_;
    } else {
      const double excess = (queueing_ms + delay_ms_) / delay_ms_;
      cwnd_ -= decrease_ * excess * excess;
    }
    cwnd_ = std::clamp(cwnd_, 1.0, widest_window);
  }

  // At most once in 300 ms.
  void on_keepalive(const Keepalive& keepalive) override {
    if (keepalive.now_ms - last_silence_ms_ < min_between_ms_) return;
    last_silence_ms_ = keepalive.now_ms;
    cwnd_ = std::max(1.0, cwnd_ * silence_factor_);
  }

 private:
  static constexpr int64_t min_between_ms_ = 300;
  static constexpr double silence_rtts_ = 1.5;

  double delay_ms_;
  double new_share_;
  double increase_;
  double decrease_;
  double silence_factor_;
  double average_;
  double min_ms_ = infinity;
  int64_t last_silence_ms_ = -min_between_ms_;
};

const Registration<TensorFairness> registration{
    "tensor_fairness", "steps by the squared distance of the queueing delay to a target",
    "contest report Tensor Fairness"};

}  // namespace
}  // namespace kneepoint
