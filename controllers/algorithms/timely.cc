// TIMELY: the window follows the gradient of the RTT between two thresholds. Mittal et al., SIGCOMM
// 2015, Algorithm 1; report 004 exercise C, where the rate is a window and the gradient is tested
// with <= 0 (its text prints < 0, which fits its numbers worse). Two flags follow its author's code
// (github.com/ngpjunior/tp2) instead of its text: below t_low_ms the gradient acts as well
// (gradient_below_low), and a fraction of a packet in the window admits one more packet (round_up).
#include <algorithm>
#include <cmath>

#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

constexpr int hyperactive_after = 5;  // ACKs in a row without a rising RTT

class Timely final : public Controller {
 public:
  explicit Timely(Parameters& parameters)
      : Controller(parameters, 80),
        rate_(parameters.real("initial_rate", 10, {.low = 1, .high = 50, .min = 1}, "packets",
                              "window before the first acknowledgment")),
        min_rate_(parameters.real("min_rate", 1, {.low = 1, .high = 10, .min = 1}, "packets",
                                  "minimum window")),
        alpha_(parameters.real("alpha", 0.8, {.low = 0.05, .high = 1, .max = 1}, "1",
                               "weight of a new RTT difference in the average")),
        beta_(parameters.real("beta", 0.3, {.low = 0.05, .high = 1, .max = 1}, "1",
                              "multiplicative decrease")),
        delta_(parameters.real("delta", 0.25, {.low = 0.05, .high = 2, .scale = Scale::log},
                               "packets", "additive increase an acknowledgment")),
        t_low_ms_(parameters.real("t_low_ms", 60, {.low = 41, .high = 120}, "ms",
                                  "below it the window always grows")),
        t_high_ms_(parameters.real("t_high_ms", 150, {.low = 60, .high = 500}, "ms",
                                   "above it the window always shrinks")),
        min_rtt_ms_(parameters.real("min_rtt_ms", 50, {.low = 20, .high = 100, .min = 1}, "ms",
                                    "RTT that normalises the gradient")),
        hyperactive_n_(
            parameters.integer("hyperactive_n", 1, {.low = 1, .high = 5, .min = 1}, "1",
                               "increase multiplier from the fifth ACK on without a rising RTT")),
        gradient_below_low_(parameters.flag("gradient_below_low",
                                            "1: below t_low_ms the gradient acts as well; "
                                            "0: the window only grows")),
        round_up_(parameters.flag("round_up",
                                  "1: a fraction of a packet in the window counts as a "
                                  "packet; 0: as none")) {}

  double window() const override { return round_up_ ? std::ceil(rate_) : rate_; }

  void on_ack(const Ack& ack) override {
    const auto rtt_ms = static_cast<double>(ack.rtt_ms());
    const double change_ms = has_sample_ ? rtt_ms - previous_rtt_ms_ : 0;
    has_sample_ = true;
    previous_rtt_ms_ = rtt_ms;
    difference_ms_ = (1 - alpha_) * difference_ms_ + alpha_ * change_ms;
    rate_ = std::max(min_rate_, next_rate(rtt_ms, difference_ms_ / min_rtt_ms_));
  }

 private:
  double next_rate(double rtt_ms, double gradient) {
    if (rtt_ms > t_high_ms_) {
      not_rising_ = 0;
      return rate_ * (1 - beta_ * (1 - t_high_ms_ / rtt_ms));
    }
    double rate = rate_;
    if (rtt_ms < t_low_ms_) {
      rate += delta_;
      if (not gradient_below_low_) {
        not_rising_ = 0;
        return rate;
      }
    }
    if (gradient <= 0) {
      ++not_rising_;
      return rate + (not_rising_ >= hyperactive_after ? hyperactive_n_ : 1) * delta_;
    }
    not_rising_ = 0;
    return rate * (1 - beta_ * gradient);
  }

  double rate_;
  double min_rate_;
  double alpha_;
  double beta_;
  double delta_;
  double t_low_ms_;
  double t_high_ms_;
  double min_rtt_ms_;
  double hyperactive_n_;
  bool gradient_below_low_;
  bool round_up_;
  bool has_sample_ = false;
  double previous_rtt_ms_ = 0;
  double difference_ms_ = 0;
  int not_rising_ = 0;
};

const Registration<Timely> registration{"timely", "follows the gradient of the RTT",
                                        "report 004 s3; TIMELY, SIGCOMM 2015"};

}  // namespace
}  // namespace kneepoint
