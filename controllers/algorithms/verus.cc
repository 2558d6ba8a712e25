// Verus: a delay that follows the short-term changes of the RTT, and the window that has had that
// delay before. Zaki et al., SIGCOMM 2015, sections 4 and 5.
//
// Epochs end with the first acknowledgment after their time. The paper sends what is missing from
// the window in the course of the next epoch; here the window itself bounds what is in flight. The
// profile's curve is piecewise linear between means, not a spline; beyond its last point it goes
// on.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "algorithms/by_number.hh"
#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

// The delay that each window had, smoothed, and the curve through it.
class DelayProfile {
 public:
  void add(double window, double delay_ms, double old_share) {
    const auto [known, is_new] = delays_ms_.try_emplace(std::floor(window), delay_ms);
    if (not is_new) known->second = old_share * known->second + (1 - old_share) * delay_ms;
  }

  // A delay never falls as the window grows: points that disagree share their mean.
  void fit() {
    curve_.clear();
    for (const auto& [window, delay_ms] : delays_ms_) {
      Point point{window, delay_ms, 1};
      while (not curve_.empty() and curve_.back().delay_ms >= point.delay_ms) {
        const Point& other = curve_.back();
        const double points = point.points + other.points;
        point = {(point.window * point.points + other.window * other.points) / points,
                 (point.delay_ms * point.points + other.delay_ms * other.points) / points, points};
        curve_.pop_back();
      }
      curve_.push_back(point);
    }
  }

  // The window of that delay; none of fewer than two points.
  bool is_known() const { return curve_.size() >= 2; }
  double window_of(double delay_ms) const {
    const auto above =
        std::upper_bound(curve_.begin() + 1, curve_.end() - 1, delay_ms,
                         [](double delay, const Point& point) { return delay < point.delay_ms; });
    const Point& low = *(above - 1);
    return low.window + (delay_ms - low.delay_ms) * (above->window - low.window) /
                            (above->delay_ms - low.delay_ms);
  }

 private:
  struct Point {
    double window;
    double delay_ms;
    double points;
  };

  std::map<double, double> delays_ms_{};  // by window, in whole packets
  std::vector<Point> curve_{};
};

class Verus final : public TimingOut {
 public:
  explicit Verus(Constants& constants)
      : TimingOut(constants),
        epoch_s_(constants.real("epoch_ms", 5, {.low = 1, .high = 50, .least = 1}, "ms",
                                "time between decisions") /
                 1000),
        ratio_(constants.real("ratio", 6, {.low = 1.5, .high = 8, .least = 1}, "1",
                              "delay, in least delays, beyond which it only falls")),
        small_step_ms_(constants.real("small_step_ms", 1, {.low = 0.1, .high = 5}, "ms",
                                      "fall an epoch while delays grow")),
        step_ms_(constants.real("step_ms", 2, {.low = 0.1, .high = 10}, "ms",
                                "rise an epoch while they do not, fall beyond ratio")),
        old_share_(constants.real("old_share", 0.875, {.low = 0.5, .high = 0.98, .most = 0.999},
                                  "1", "weight of the old value in averages")),
        kept_(constants.real("kept", 0.7, {.low = 0.5, .high = 0.9, .most = 1}, "1",
                             "what a loss leaves of the window that lost")),
        refit_s_(constants.real("refit_s", 1,
                                {.low = 0.1, .high = 10, .least = 0.01, .scale = Scale::log}, "s",
                                "time between fits of the profile's curve")),
        slow_start_ms_(constants.real("slow_start_ms", 500, {.low = 100, .high = 1000, .least = 1},
                                      "ms", "delay that ends slow start")) {}

  // Timeouts follow the RTT, between 150 ms and a second.
  double keepalive_ms() const override {
    const double longest_ms = Controller::keepalive_ms();
    if (not srtt_ms_.is_known()) return longest_ms;
    return std::clamp(4 * srtt_ms_.value(), std::min(150.0, longest_ms), longest_ms);
  }

  void on_sent(uint64_t sequence_number, int64_t) override {
    windows_.at_new(sequence_number) = cwnd_;
  }

  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    const double window_then = windows_.take(ack.sequence_number);
    if (measures_rtt(ack)) measure(ack, window_then);
    if (least_ms_.is_empty()) return;
    if (is_repairing_) {
      cwnd_ = std::min(cwnd_ + static_cast<double>(ack.acknowledged) / cwnd_, widest_);
      is_repairing_ = window_then > cwnd_;
      return;
    }
    if (is_slow_start_) {
      cwnd_ = std::min(cwnd_ + static_cast<double>(ack.acknowledged), widest_);
      if (rtt_ms(ack) > slow_start_ms_) leave_slow_start(now);
      return;
    }
    if (now >= next_fit_s_) fit(now);
    if (now >= next_epoch_s_) end_epoch(now);
  }

  void on_loss(const Loss& loss) override {
    const double now = now_s(loss);
    if (is_slow_start_) leave_slow_start(now);
    const double lost = is_repairing_ ? cwnd_ : windows_.first();
    cwnd_ =
        loss.kind == Loss::Kind::timed_out ? least_window_ : std::max(kept_ * lost, least_window_);
    is_repairing_ = true;
  }

 private:
  void measure(const Ack& ack, double window_then) {
    const double delay_ms = rtt_ms(ack);
    least_ms_.add(delay_ms, now_s(ack), least_span_s_);
    srtt_ms_.add(delay_ms);
    epoch_most_ms_ = std::max(epoch_most_ms_, delay_ms);
    // While it repairs, delays are those of another time (section 5.3).
    if (not is_repairing_) profile_.add(window_then, delay_ms, old_share_);
  }

  void leave_slow_start(double now) {
    is_slow_start_ = false;
    wanted_ms_ = srtt_ms_.value();
    fit(now);
    next_epoch_s_ = now;
  }

  void fit(double now) {
    profile_.fit();
    next_fit_s_ = now + refit_s_;
  }

  void end_epoch(double now) {
    next_epoch_s_ = now + epoch_s_;
    if (most_ms_ == 0) most_ms_ = epoch_most_ms_;
    const double before_ms = most_ms_;
    most_ms_ = old_share_ * most_ms_ + (1 - old_share_) * epoch_most_ms_;
    epoch_most_ms_ = 0;
    const double least_ms = least_ms_.best();
    if (most_ms_ > ratio_ * least_ms) {
      wanted_ms_ -= step_ms_;
    } else {
      wanted_ms_ += most_ms_ > before_ms ? -small_step_ms_ : step_ms_;
    }
    wanted_ms_ = std::max(wanted_ms_, least_ms);
    const double window = profile_.is_known() ? profile_.window_of(wanted_ms_) : cwnd_ + 1;
    cwnd_ = std::clamp(window, least_window_, widest_);
  }

  static constexpr double least_window_ = 1;
  static constexpr double widest_ = 1 << 14;
  static constexpr double least_span_s_ = 600;  // routes change

  double epoch_s_;
  double ratio_;
  double small_step_ms_;
  double step_ms_;
  double old_share_;
  double kept_;
  double refit_s_;
  double slow_start_ms_;
  DelayProfile profile_{};
  WindowedLeast least_ms_{};
  ByNumber<double> windows_{};  // when each packet left
  SmoothedRtt srtt_ms_{};
  double epoch_most_ms_ = 0;
  double most_ms_ = 0;
  double wanted_ms_ = 0;
  double next_epoch_s_ = 0;
  double next_fit_s_ = 0;
  bool is_slow_start_ = true;
  bool is_repairing_ = false;
};

const Registration<Verus> registration{"verus", "the window that has had a wanted delay before",
                                       "Zaki et al., SIGCOMM 2015"};

}  // namespace
}  // namespace kneepoint
