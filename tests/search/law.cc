// The window grows and shrinks by powers of itself around a target delay that follows the link's
// rate.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

// Acknowledgments per millisecond of the receiver's clock, with exponentially falling weights. The
// time before the first acknowledgment does not count as silence.
class Rate {
 public:
  explicit Rate(double span_ms) : span_ms_(span_ms) {}

  void add(double passed_ms) {
    const double kept = std::exp(-passed_ms / span_ms_);
    sum_ = sum_ * kept + 1 / span_ms_;
    weight_ = weight_ * kept + 1 - kept;
  }
  double per_ms() const { return sum_ / std::max(weight_, 1 / span_ms_); }

 private:
  double span_ms_;
  double sum_ = 0;
  double weight_ = 0;
};

class Law final : public Controller {
 public:
  explicit Law(Parameters& parameters)
      : Controller(parameters, 29),
        target_ms_(parameters.real("target_ms", 10.6, {.low = 5, .high = 30, .min = 1}, "ms",
                                   "queueing delay to aim at")) {}

  double window() const override { return window_; }

  void on_ack(const Ack& ack) override {
    const auto way_ms = static_cast<double>(ack.received_ms - ack.sent_ms);
    const auto rtt_ms = static_cast<double>(ack.rtt_ms());
    if (last_ms_ < 0) {
      min_way_ms_ = way_ms;
      min_rtt_ms_ = rtt_ms;
      last_ms_ = ack.received_ms;
    }
    min_way_ms_ = std::min(min_way_ms_, way_ms);
    min_rtt_ms_ = std::min(min_rtt_ms_, rtt_ms);
    queued_ms_ = 0.64 * (way_ms - min_way_ms_) + 0.36 * (rtt_ms - min_rtt_ms_);
    average_ms_ += 0.76 * (queued_ms_ - average_ms_);
    deviation_ms_ += 0.83 * (std::abs(queued_ms_ - average_ms_) - deviation_ms_);
    const auto passed_ms = static_cast<double>(ack.received_ms - last_ms_);
    last_ms_ = ack.received_ms;
    fast_.add(passed_ms);
    slow_.add(passed_ms);
    const double trend = std::log((fast_.per_ms() + 0.01) / (slow_.per_ms() + 0.01));
    now_target_ms_ = target_ms_ * std::exp(std::clamp(0.36 * trend, -1.0, 1.0));
    const double room = (now_target_ms_ - average_ms_ - 3 * deviation_ms_) / now_target_ms_;
    if (room > 0) {
      cwnd_ += 1.5 * std::pow(cwnd_, -0.5);
    } else {
      cwnd_ -= 0.3 * (1 + 0.27 * std::min(-room, 8.0)) * std::pow(cwnd_, -0.25);
    }
    cwnd_ = std::clamp(cwnd_, 2.0, 600.0);
    const double near = std::clamp((now_target_ms_ - queued_ms_) / now_target_ms_, -3.0, 1.0);
    window_ = std::max(2.0, cwnd_ * std::exp(0.07 * near));
  }

 private:
  double target_ms_;
  double cwnd_ = 20;
  double window_ = cwnd_;
  double queued_ms_ = 0;
  double average_ms_ = 0;
  double deviation_ms_ = 0;
  double now_target_ms_ = target_ms_;
  double min_way_ms_ = 0;
  double min_rtt_ms_ = 0;
  int64_t last_ms_ = -1;
  Rate fast_{700};
  Rate slow_{5700};
};

const Registration<Law> registration{"law", "target queueing delay, adapted to the link's rate",
                                     "a search"};

}  // namespace
}  // namespace kneepoint
