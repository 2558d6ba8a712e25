// Copa: the target rate is 1/(delta dq) at a queueing delay dq, and the window approaches it faster
// the longer it moves in one direction; beside flows that fill buffers, delta follows losses. Arun,
// Balakrishnan: Copa, NSDI 2018, section 2. Losses do not stop the window: it moves during
// recoveries, too.
#include <algorithm>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Copa final : public Windowed {
 public:
  explicit Copa(Parameters& parameters)
      : Windowed(parameters, 1000),
        default_delta_(parameters.real("delta", 0.5,
                                       {.low = 0.02, .high = 2, .min = 1e-3, .scale = Scale::log},
                                       "1/packet", "1/delta packets of a flow wait in the queue")),
        span_of_min_s_(parameters.real("min_rtt_s", 10, {.low = 1, .high = 60, .min = 0.1}, "s",
                                       "time over which the min RTT is taken")),
        standing_share_(parameters.real("standing_share", 0.5, {.low = 0.1, .high = 1, .min = 0.01},
                                        "RTT", "time over which the standing RTT is the minimum")),
        is_adaptive_(parameters.flag("competitive", "competes with flows that fill buffers", true)),
        delta_(default_delta_) {}

  // Twice the window in a round trip, so that pacing does not bound the rate (section 2.1).
  double pacing_us() const override { return 1e3 * standing_ms_.best() / (2 * cwnd_); }

  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    if (measures_rtt(ack)) measure(rtt_ms(ack), now);
    if (standing_ms_.is_empty()) return;
    if (rounds_.advance(ack)) end_round(now);
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    const double queueing_ms = standing_ms_.best() - min_ms_.best();
    // The rate cwnd/standing RTT against the target 1/(delta dq).
    const bool is_below_target = cwnd_ * delta_ * queueing_ms <= standing_ms_.best();
    is_slow_start_ = is_slow_start_ and is_below_target;
    if (is_slow_start_) {
      cwnd_ += acknowledged;
    } else {
      const double step = velocity_ * acknowledged / (delta_ * cwnd_);
      cwnd_ += is_below_target ? step : -step;
    }
    cwnd_ = std::clamp(cwnd_, min_window_, widest_window);
  }

  // The paper leaves timeouts to the transport. Here a timeout resets the window and the velocity.
  void on_loss(const Loss& loss) override {
    has_lost_in_round_ = true;
    if (loss.kind != Loss::Kind::timed_out) return;
    cwnd_ = min_window_;
    turn(false);
  }

 private:
  void measure(double rtt_ms, double now) {
    smoothed_ms_.add(rtt_ms);
    min_ms_.add(rtt_ms, now, span_of_min_s_);
    standing_ms_.add(rtt_ms, now, standing_share_ * smoothed_ms_.value() / 1e3);
    if (not is_adaptive_) return;
    max_ms_.add(rtt_ms, now, span_of_max_rtts_ * smoothed_ms_.value() / 1e3);
    const double range_ms = max_ms_.best() - min_ms_.best();
    if (rtt_ms - min_ms_.best() <= nearly_empty_ * range_ms) emptied_at_s_ = now;
  }

  // Section 2.2: if all flows are Copa's, the queue is nearly empty at least once in five round
  // trips. (This fails where a tenth of the queue is less than a packet: there `competitive`
  // mistakes Copa's own flows for others.)
  void end_round(double now) {
    follow_direction();
    const bool competes =
        is_adaptive_ and now - emptied_at_s_ > empty_rtts_ * smoothed_ms_.value() / 1e3;
    if (not competes) {
      delta_ = default_delta_;
    } else if (has_lost_in_round_) {
      delta_ = std::min(2 * delta_, default_delta_);
    } else {
      delta_ = 1 / (1 / delta_ + 1);
    }
    has_lost_in_round_ = false;
  }

  // The velocity doubles in each round trip once the window has moved in one direction for three
  // round trips. As in the authors' program, the window never moves faster than in slow start: the
  // paper does not bound the velocity, and steps larger than the distance to the target never
  // converge.
  void follow_direction() {
    const bool rises = cwnd_ > window_before_;
    if (is_slow_start_ or rises != was_rising_) {
      turn(rises);
    } else if (++same_direction_ >= rounds_to_accelerate_) {
      velocity_ = std::max(std::min(2 * velocity_, delta_ * cwnd_), 1.0);
    }
    window_before_ = cwnd_;
  }

  void turn(bool rises) {
    was_rising_ = rises;
    velocity_ = 1;
    same_direction_ = 0;
  }

  static constexpr double min_window_ = 2;
  static constexpr double nearly_empty_ = 0.1;
  static constexpr double empty_rtts_ = 5;
  static constexpr double span_of_max_rtts_ = 4;
  static constexpr int rounds_to_accelerate_ = 3;

  double default_delta_;
  double span_of_min_s_;
  double standing_share_;
  bool is_adaptive_;
  double delta_;
  Rounds rounds_{};
  WindowedMin min_ms_{};
  WindowedMin standing_ms_{};
  WindowedMax max_ms_{};
  SmoothedRtt smoothed_ms_{};
  double emptied_at_s_ = 0;
  bool is_slow_start_ = true;
  bool has_lost_in_round_ = false;
  double velocity_ = 0;  // until the first round trip ends
  double window_before_ = 0;
  bool was_rising_ = true;
  int same_direction_ = 0;
};

const Registration<Copa> registration{"copa", "the rate that a queueing delay allows",
                                      "Arun & Balakrishnan, NSDI 2018"};

}  // namespace
}  // namespace kneepoint
