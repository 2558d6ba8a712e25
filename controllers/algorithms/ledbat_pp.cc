// LEDBAT++: LEDBAT on RTTs, with a gain that depends on the base RTT, a multiplicative decrease,
// and slowdowns that measure the base RTT anew. draft-irtf-iccrg-ledbat-plus-plus, section 4.
#include <algorithm>
#include <cmath>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"

namespace kneepoint {
namespace {

class LedbatPp final : public TimingOut {
 public:
  explicit LedbatPp(Parameters& parameters)
      : TimingOut(parameters, 2),
        ssthresh_(initial_ssthresh(parameters)),
        target_ms_(parameters.real("target_ms", 60, {.low = 5, .high = 100, .min = 1}, "ms",
                                   "queueing delay that it aims at")),
        decrease_(parameters.real("decrease", 1, {.low = 0.1, .high = 4}, "1/RTT",
                                  "decrease at twice the target, of the window")),
        slowdown_factor_(
            parameters.real("slowdown_factor", 9, {.low = 3, .high = 100, .min = 1}, "1",
                            "time between slowdowns, as a multiple of their duration")),
        history_s_(parameters.real("base_history_min", 10, {.low = 1, .high = 10, .min = 0.1},
                                   "min", "time over which the base RTT is the minimum") *
                   60) {}

  double window() const override { return is_paused_ ? min_window_ : cwnd_; }

  void on_ack(const Ack& ack) override {
    if (measures_rtt(ack)) {
      base_ms_.add(rtt_ms(ack), now_s(ack), history_s_);
      recent_ms_.add(rtt_ms(ack), samples_++, 3);
    }
    if (base_ms_.is_empty() or ack.is_recovering) return;
    follow_slowdown(ack);
    if (is_paused_) return;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    if (cwnd_ < ssthresh_) {
      cwnd_ = std::min(cwnd_ + gain() * acknowledged, ssthresh_);
      if (is_first_slow_start_ and queueing_ms() > slow_start_share_ * target_ms_) {
        ssthresh_ = cwnd_;
      }
    } else {
      const double excess = std::max(queueing_ms() / target_ms_ - 1, 0.0);
      cwnd_ += std::max(gain() - decrease_ * cwnd_ * excess, -cwnd_ / 2) * acknowledged / cwnd_;
      ssthresh_ = std::min(ssthresh_, cwnd_);  // without a loss, slow start does not begin
    }
    cwnd_ = std::clamp(cwnd_, min_window_, widest_window);
  }

  void on_loss(const Loss& loss) override {
    if (loss.is_repeated) return;
    ssthresh_ = std::max(cwnd_ / 2, min_window_);
    cwnd_ = loss.kind == Loss::Kind::timed_out ? 1 : ssthresh_;
  }

 private:
  double queueing_ms() const { return recent_ms_.best() - base_ms_.best(); }

  double gain() const { return 1 / std::min(16.0, std::ceil(2 * target_ms_ / base_ms_.best())); }

  // A slowdown: two packets for two round trips, then slow start to the previous window. The first
  // slowdown begins two round trips after the first slow start; slowdown_factor sets the time to
  // each next one. During the first round trip the packets in flight fall to two; the second ends
  // with the acknowledgment of a packet sent after the first.
  void follow_slowdown(const Ack& ack) {
    const double now = now_s(ack);
    if (is_paused_) {
      if (not rounds_.advance(ack)) return;
      is_paused_ = false;
      ssthresh_ = std::max(cwnd_, min_window_);
      cwnd_ = min_window_;
    } else if (cwnd_ < ssthresh_) {
      return;
    } else if (is_returning_) {
      is_returning_ = false;
      next_slowdown_s_ = now + slowdown_factor_ * (now - slowdown_began_s_);
    } else if (is_first_slow_start_) {
      is_first_slow_start_ = false;
      next_slowdown_s_ = now + 2 * base_ms_.best() / 1000;
    } else if (now >= next_slowdown_s_) {
      is_paused_ = is_returning_ = true;
      slowdown_began_s_ = now;
      rounds_.begin(ack);
    }
  }

  static constexpr double min_window_ = 2;
  static constexpr double slow_start_share_ = 0.75;

  double ssthresh_;
  double target_ms_;
  double decrease_;
  double slowdown_factor_;
  double history_s_;
  Rounds rounds_{};
  WindowedMin base_ms_{};
  WindowedMin recent_ms_{};  // of four samples
  double samples_ = 0;
  bool is_first_slow_start_ = true;
  bool is_paused_ = false;     // at two packets
  bool is_returning_ = false;  // in a slowdown, or in its slow start
  double slowdown_began_s_ = 0;
  double next_slowdown_s_ = 0;
};

const Registration<LedbatPp> registration{"ledbat_pp", "LEDBAT by RTTs, with slowdowns",
                                          "draft-irtf-iccrg-ledbat-plus-plus"};

}  // namespace
}  // namespace kneepoint
