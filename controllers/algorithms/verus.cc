// Verus: a wanted delay that follows the short-term changes of the RTT, and the window that had
// this delay before. Zaki et al., SIGCOMM 2015, sections 4 and 5; where the paper is silent, the
// authors' verus_server.cpp (github.com/yzaki/verus).
//
// The authors' program sends the packets missing from the window in the course of the next epoch;
// here the window itself bounds the packets in flight, and an acknowledgment decides all epochs
// that have ended since the previous acknowledgment.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>

#include "algorithms/by_number.hh"
#include "algorithms/delay_profile.hh"
#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Verus final : public TimingOut {
 public:
  explicit Verus(Parameters& parameters)
      : TimingOut(parameters, 1),
        first_window_(cwnd_),
        epoch_s_(parameters.real("epoch_ms", 5, {.low = 1, .high = 50, .min = 1}, "ms",
                                 "time between decisions") /
                 1000),
        ratio_(parameters.real(
            "ratio", 6, {.low = 1.5, .high = 8, .min = 1}, "1",
            "delay, as a multiple of the minimum delay, beyond which the target only falls")),
        small_step_ms_(parameters.real("small_step_ms", 1, {.low = 0.1, .high = 5}, "ms",
                                       "decrease of the target per epoch while delays grow")),
        step_ms_(
            parameters.real("step_ms", 2, {.low = 0.1, .high = 10}, "ms",
                            "increase per epoch while delays do not grow; decrease beyond ratio")),
        old_share_(parameters.real("old_share", 0.875, {.low = 0.5, .high = 0.98, .max = 0.999},
                                   "1", "weight of the old value in the profile's averages")),
        kept_(parameters.real("kept", 0.7, {.low = 0.5, .high = 0.9, .max = 1}, "1",
                              "share of the window that a loss leaves")),
        refit_s_(parameters.real("refit_s", 1,
                                 {.low = 0.1, .high = 10, .min = 0.01, .scale = Scale::log}, "s",
                                 "time between fits of the profile's curve")),
        slow_start_ms_(parameters.real("slow_start_ms", 500, {.low = 100, .high = 1000, .min = 1},
                                       "ms", "delay that ends slow start")) {}

  // The timeout is five times the last delay, at least 150 ms and at most the parameter
  // keepalive_ms.
  double keepalive_ms() const override {
    const double longest_ms = Controller::keepalive_ms();
    if (min_ms_ == unknown_) return longest_ms;
    return std::clamp(5 * last_ms_, std::min(150.0, longest_ms), longest_ms);
  }

  void on_sent(uint64_t sequence_number, int64_t) override {
    windows_.at_new(sequence_number) = std::floor(cwnd_);
    next_ = std::max(next_, sequence_number + 1);
  }

  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    pass(now);
    std::erase_if(missing_,
                  [&](const Missing& each) { return each.number == ack.sequence_number; });
    // A reordered acknowledgment has no record.
    if (ack.sequence_number < expected_) return;
    expected_ = ack.sequence_number + 1;
    const double window_then = windows_.take(ack.sequence_number);
    if (ack.sequence_number < first_) return;  // sent before slow start began anew
    if (is_losing_ and window_then <= cwnd_) {
      is_losing_ = has_delay_ended_slow_start_ = false;
      epoch_max_ms_ = 0;
    }
    if (measures_rtt(ack)) hear(rtt_ms(ack), window_then, now);
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    if (is_losing_) {
      cwnd_ += acknowledged / cwnd_;
      wanted_ms_ = std::min(wanted_ms_, profile_.delay_ms_of(cwnd_, min_ms_));
    }
    if (is_slow_start_) cwnd_ += acknowledged;
    cwnd_ = std::min(cwnd_, widest_);
  }

  // A missing packet counts as lost after another 150 ms without its acknowledgment.
  void on_loss(const Loss& loss) override {
    pass(now_s(loss));
    if (loss.kind == Loss::Kind::timed_out) {
      time_out(now_s(loss));
    } else if (expected_ >= first_) {
      missing_.push_back({expected_, windows_.first(), now_s(loss) + patience_s_});
    }
  }
  void on_undo(const Undo&) override { missing_.clear(); }

 private:
  struct Missing {
    uint64_t number;
    double window;  // when the packet was sent
    double lost_s;  // when it counts as lost
  };

  // Handles the losses and the ends of epochs that are due by now.
  void pass(double now) {
    for (; not missing_.empty() and missing_.front().lost_s <= now; missing_.pop_front()) {
      lose(missing_.front().window, now);
    }
    for (; not is_slow_start_ and next_epoch_s_ <= now; next_epoch_s_ += epoch_s_) {
      if (next_epoch_s_ >= next_fit_s_) fit(next_epoch_s_);
      end_epoch(next_epoch_s_);
    }
  }

  void hear(double delay_ms, double window_then, double now) {
    last_ms_ = delay_ms;
    last_s_ = now;
    min_ms_ = std::min(min_ms_, delay_ms);
    if (is_slow_start_ and delay_ms > slow_start_ms_) {
      cwnd_ = std::max(kept_ * window_then, min_window_);
      is_losing_ = has_delay_ended_slow_start_ = true;
      leave_slow_start(now);
    }
    epoch_max_ms_ = std::max(epoch_max_ms_, delay_ms);
    // In a loss phase delays belong to another window (section 5.3).
    if (not is_losing_) profile_.add(window_then, delay_ms, old_share_);
  }

  void lose(double window, double now) {
    if (not is_losing_) {
      is_losing_ = true;
      cwnd_ = std::max(std::min(cwnd_, kept_ * window), min_window_);
      wanted_ms_ = profile_.delay_ms_of(cwnd_, min_ms_);
    }
    if (is_slow_start_ and std::floor(cwnd_) > 20) {
      profile_.forget_from(std::max(100.0, window));
      leave_slow_start(now);
    }
  }

  void time_out(double now) {
    if (min_ms_ == unknown_) return;
    if (is_slow_start_) {
      leave_slow_start(now);
    } else {
      is_losing_ = true;
    }
    missing_.clear();
    wanted_ms_ = min_ms_;
    decide();
  }

  void leave_slow_start(double now) {
    is_slow_start_ = false;
    fit(now);
    wanted_ms_ = profile_.delay_ms_of(cwnd_, min_ms_);
    next_epoch_s_ = now + epoch_s_;
  }

  void restart() {
    is_slow_start_ = true;
    is_losing_ = has_delay_ended_slow_start_ = false;
    profile_ = {};
    missing_.clear();
    min_ms_ = unknown_;
    max_ms_ = epoch_max_ms_ = 0;
    cwnd_ = first_window_;
    first_ = next_;
  }

  void fit(double now) {
    profile_.fit();
    next_fit_s_ = now + refit_s_;
  }

  void end_epoch(double now) {
    const bool has_heard = epoch_max_ms_ > 0;
    if (not has_heard) epoch_max_ms_ = std::max(max_ms_, 1e3 * (now - last_s_));
    if (max_ms_ == 0) max_ms_ = epoch_max_ms_;
    if (max_ms_ > ratio_ * min_ms_) {
      if (not has_delay_ended_slow_start_) fall(step_ms_);
      // If hardly a packet is in flight and delays are still long, the path itself has become
      // longer.
      if (wanted_ms_ == min_ms_ and has_heard and next_ - expected_ < 2) min_ms_ += 10;
    } else if (epoch_max_ms_ > max_ms_) {
      fall(small_step_ms_);
    } else {
      wanted_ms_ += step_ms_;
    }
    max_ms_ = 0.2 * max_ms_ + 0.8 * epoch_max_ms_;
    epoch_max_ms_ = 0;
    decide();
  }

  void fall(double step_ms) { wanted_ms_ = std::max(wanted_ms_ - step_ms, min_ms_); }

  // Sets the window of the wanted delay. If the profile has no such window, the link has changed.
  void decide() {
    if (profile_.maps(wanted_ms_)) {
      cwnd_ = std::clamp(profile_.window_of(wanted_ms_), min_window_, widest_);
    } else {
      restart();
    }
  }

  static constexpr double min_window_ = 1;
  static constexpr double widest_ = 40'000;
  static constexpr double patience_s_ = 0.15;
  static constexpr double unknown_ = std::numeric_limits<double>::infinity();

  double first_window_;
  double epoch_s_;
  double ratio_;
  double small_step_ms_;
  double step_ms_;
  double old_share_;
  double kept_;
  double refit_s_;
  double slow_start_ms_;
  DelayProfile profile_{};
  ByNumber<double> windows_{};  // in whole packets, when each packet left
  std::deque<Missing> missing_{};
  double min_ms_ = unknown_;
  double last_ms_ = 0;
  double last_s_ = 0;
  double epoch_max_ms_ = 0;  // 0 without an acknowledgment
  double max_ms_ = 0;        // smoothed
  double wanted_ms_ = 0;
  double next_epoch_s_ = 0;
  double next_fit_s_ = 0;
  uint64_t next_ = 0;      // the next packet to be sent
  uint64_t expected_ = 0;  // the next packet to be acknowledged
  uint64_t first_ = 0;     // the first packet sent since slow start began
  bool is_slow_start_ = true;
  bool is_losing_ = false;  // until a packet sent after the loss is acknowledged
  bool has_delay_ended_slow_start_ = false;
};

const Registration<Verus> registration{"verus", "the window that has had a wanted delay before",
                                       "Zaki et al., SIGCOMM 2015"};

}  // namespace
}  // namespace kneepoint
