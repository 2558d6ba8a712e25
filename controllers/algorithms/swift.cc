// Swift: additive increase below a target delay, multiplicative decrease above it, and windows of
// less than one packet by pacing. Kumar et al., SIGCOMM 2020, section 3 and Algorithm 1.
//
// The paper's target grows with the hops of a path; here it grows with the path's min RTT. The
// paper's microseconds are milliseconds here. Hosts do not report their own delays, so that the
// fabric's window is the only window.
#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Swift final : public TimingOut {
 public:
  explicit Swift(Parameters& parameters)
      : TimingOut(parameters),
        target_ms_(parameters.real("target_ms", 25, {.low = 5, .high = 200, .scale = Scale::log},
                                   "ms", "delay beyond the min RTT that it aims at")),
        ai_(parameters.real("ai", 1, {.low = 0.1, .high = 5, .scale = Scale::log}, "packets/RTT",
                            "additive increase")),
        beta_(parameters.real("beta", 0.8, {.low = 0.1, .high = 1}, "1",
                              "decrease per share of the RTT beyond its target")),
        max_mdf_(parameters.real("max_mdf", 0.5, {.low = 0.1, .high = 0.9, .max = 1}, "1",
                                 "greatest decrease, of the window")),
        scaling_range_(parameters.real("scaling_range", 5, {.low = 0, .high = 10}, "1",
                                       "added to the target of small windows")),
        scaling_low_(parameters.real("scaling_low", 0.1,
                                     {.low = 0.1, .high = 1, .min = 0.01, .max = 1}, "packets",
                                     "window up to which the addition is greatest")),
        scaling_high_(parameters.real("scaling_high", 100, {.low = 10, .high = 200, .min = 2},
                                      "packets", "window from which there is none")),
        reset_after_(parameters.integer("reset_after", 5, {.low = 1, .high = 10, .min = 1}, "1",
                                        "consecutive timeouts that lead to the minimum window")) {}

  // A window below one packet is one packet and a pause.
  double window() const override { return std::max(cwnd_, 1.0); }
  double pacing_us() const override {
    return cwnd_ < 1 ? std::min(1e3 * rtt_ms_ / cwnd_, longest_us_) : 0;
  }

  void on_ack(const Ack& ack) override {
    timeouts_ = 0;
    if (measures_rtt(ack)) {
      rtt_ms_ = rtt_ms(ack);
      min_ms_.add(rtt_ms_, now_s(ack), span_of_min_s_);
    }
    if (min_ms_.is_empty()) return;
    const double target_ms = min_ms_.best() + target_ms_ + scaling_ms();
    if (rtt_ms_ < target_ms) {
      const double increase = ai_ * static_cast<double>(ack.acknowledged);
      cwnd_ = std::min(cwnd_ + (cwnd_ >= 1 ? increase / cwnd_ : increase), widest_window);
    } else {
      decrease(beta_ * (rtt_ms_ - target_ms) / rtt_ms_, now_s(ack));
    }
  }

  void on_loss(const Loss& loss) override {
    timeouts_ = loss.kind == Loss::Kind::timed_out ? timeouts_ + 1 : 0;
    if (timeouts_ >= reset_after_) {
      cwnd_ = min_;
    } else {
      decrease(max_mdf_, now_s(loss));
    }
  }

  // A silence may be Swift's own pause.
  void on_keepalive(const Keepalive& keepalive) override {
    if (pacing_us() < 1e3 * keepalive_ms()) TimingOut::on_keepalive(keepalive);
  }

 private:
  // Section 3.5: in proportion to 1/sqrt(cwnd), since the queue of n flows grows with sqrt(n).
  double scaling_ms() const {
    const double none = 1 / std::sqrt(scaling_high_);
    const double share = (1 / std::sqrt(cwnd_) - none) / (1 / std::sqrt(scaling_low_) - none);
    return scaling_range_ * target_ms_ * std::clamp(share, 0.0, 1.0);
  }

  // At most once in a round trip.
  void decrease(double share, double now) {
    if (now - decreased_s_ < rtt_ms_ / 1e3) return;
    decreased_s_ = now;
    cwnd_ = std::max(cwnd_ * (1 - std::min(share, max_mdf_)), min_);
  }

  static constexpr double min_ = 0.01;
  static constexpr double longest_us_ = 10e6;
  static constexpr double span_of_min_s_ = 600;  // routes change
  double target_ms_;
  double ai_;
  double beta_;
  double max_mdf_;
  double scaling_range_;
  double scaling_low_;
  double scaling_high_;
  double reset_after_;
  double rtt_ms_ = 0;
  WindowedMin min_ms_{};
  double decreased_s_ = std::numeric_limits<double>::lowest();
  int timeouts_ = 0;
};

const Registration<Swift> registration{
    "swift", "holds the delay at a target, also with windows below one packet",
    "Kumar et al., SIGCOMM 2020"};

}  // namespace
}  // namespace kneepoint
