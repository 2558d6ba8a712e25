// CUBIC, RFC 9438. Windows are in packets, times in seconds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"
#include "algorithms/whole_window.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

// Congestion avoidance as in Linux 6 (net/ipv4/tcp_cubic.c): windows are whole packets, the window
// grows by one packet in `packets_for_one_`, which is recomputed when the window has changed or
// after 32 ms. Time there is in jiffies, of 1 ms here, and in units of 1/1024 s.
class WholePackets {
 public:
  WholePackets(bool are_counted, double c, double beta)
      : are_counted_(are_counted),
        scale_(std::round(c * 1024)),
        reno_scale_(std::floor(8 * (1024 + std::round(beta * 1024)) / 3 /
                               (1024 - std::round(beta * 1024)))) {}

  bool are_counted() const { return are_counted_; }

  // After a loss.
  void begin_anew() {
    epoch_start_ms_.reset();
    whole_window_.begin_anew();
  }

  // Returns the window after an acknowledgment; `w_max` is 0 before the first loss.
  double grow(double window, double w_max, int64_t now_us, int64_t least_rtt_us,
              uint64_t acknowledged) {
    update(window, w_max, now_us / 1000, least_rtt_us / 1000, static_cast<double>(acknowledged));
    return std::min(whole_window_.grow(window, packets_for_one_, static_cast<double>(acknowledged)),
                    widest_window);
  }

 private:
  void update(double window, double w_max, int64_t now_ms, int64_t least_rtt_ms,
              double acknowledged) {
    acknowledged_in_epoch_ += acknowledged;
    if (window == last_window_ and now_ms - last_update_ms_ <= longest_unchanged_ms_) return;
    if (not epoch_start_ms_ or now_ms != last_update_ms_) {
      last_window_ = window;
      last_update_ms_ = now_ms;
      if (not epoch_start_ms_) begin_epoch(window, w_max, now_ms, acknowledged);
      const auto t = static_cast<double>((now_ms - *epoch_start_ms_ + least_rtt_ms) * 1024 / 1000);
      const double distance = std::abs(t - k_);
      const double change = std::floor(scale_ * distance * distance * distance * 0x1p-40);
      const double target = t < k_ ? plateau_ - change : plateau_ + change;
      packets_for_one_ = target > window ? std::floor(window / (target - window)) : 100 * window;
      if (w_max == 0) packets_for_one_ = std::min(packets_for_one_, 20.0);
    }
    // Reno's estimated window.
    const double packets_for_reno = std::floor(window * reno_scale_ / 8);
    while (acknowledged_in_epoch_ > packets_for_reno) {
      acknowledged_in_epoch_ -= packets_for_reno;
      ++reno_window_;
    }
    if (reno_window_ > window) {
      packets_for_one_ = std::min(packets_for_one_, std::floor(window / (reno_window_ - window)));
    }
    packets_for_one_ = std::max(packets_for_one_, 2.0);
  }

  void begin_epoch(double window, double w_max, int64_t now_ms, double acknowledged) {
    epoch_start_ms_ = now_ms;
    acknowledged_in_epoch_ = acknowledged;
    reno_window_ = window;
    plateau_ = std::max(window, w_max);
    k_ = std::floor(1024 * portable::cube_root((plateau_ - window) * 1024 / scale_));
  }

  static constexpr int64_t longest_unchanged_ms_ = 31;

  bool are_counted_;
  double scale_;       // of the cube, in 1/1024 packets/s^3
  double reno_scale_;  // in packets acknowledged for 8 that Reno grows by, of a window of 8
  std::optional<int64_t> epoch_start_ms_{};
  int64_t last_update_ms_ = 0;
  double last_window_ = 0;
  double plateau_ = 0;
  double k_ = 0;  // until it is reached, in 1/1024 s
  double packets_for_one_ = 0;
  WholeWindow whole_window_{};
  double acknowledged_in_epoch_ = 0;
  double reno_window_ = 0;
};

class Cubic final : public SlowStarting {
 public:
  explicit Cubic(Constants& constants)
      : SlowStarting(constants),
        c_(constants.real("c", 0.4, {.low = 0.05, .high = 4, .least = 1e-6, .scale = Scale::log},
                          "packets/s³", "how steeply the window returns to where it was")),
        beta_(constants.real("beta", 0.7, {.low = 0.3, .high = 0.9, .least = 0.01, .most = 0.99},
                             "1", "what a loss leaves of the window")),
        fast_convergence_(constants.flag(
            "fast_convergence", "gives way further when losses come earlier than before", true)),
        has_hystart_(constants.flag("hystart", "leaves slow start when the RTT grows")),
        whole_packets_(constants.flag("whole_packets", "computes in whole packets, as Linux does"),
                       c_, beta_) {
    if (whole_packets_.are_counted()) cwnd_ = std::floor(cwnd_);
  }

  void on_ack(const Ack& ack) override {
    if (ack.is_recovering) return;
    if (measures_rtt(ack)) {
      least_rtt_us_ = std::min(least_rtt_us_, ack.rtt_us);
      rtt_s_ = rtt_s(ack);
    }
    // As in Linux, the acknowledgment that ends slow start no longer lets the window double.
    if (has_hystart_ and cwnd_ < ssthresh_ and hystart_.sees_the_end(ack, cwnd_)) ssthresh_ = cwnd_;
    if (not ack.is_cwnd_limited) return;
    if (cwnd_ < ssthresh_) {
      cwnd_ = std::min(cwnd_ + static_cast<double>(ack.acknowledged), ssthresh_);
    } else if (whole_packets_.are_counted()) {
      cwnd_ = whole_packets_.grow(cwnd_, w_max_, ack.now_us, least_rtt_us_, ack.acknowledged);
    } else {
      avoid_congestion(ack);
    }
  }

 private:
  void reduce(const Loss& loss) override {
    epoch_start_us_.reset();
    // Section 4.7: a flow that lost earlier than before leaves room for others.
    w_max_ = fast_convergence_ and cwnd_ < w_max_ ? cwnd_ * (1 + beta_) / 2 : cwnd_;
    ssthresh_ = std::max(cwnd_ * beta_, 2.0);
    if (whole_packets_.are_counted()) {
      w_max_ = std::floor(w_max_);
      ssthresh_ = std::floor(ssthresh_);
      whole_packets_.begin_anew();
    }
    cwnd_prior_ = cwnd_;
    if (loss.kind == Loss::Kind::timed_out) {
      w_max_ = 0;  // section 4.8: the next epoch begins with K = 0, at its own window
      cwnd_ = 1;
    } else {
      cwnd_ = ssthresh_;
    }
  }

  void avoid_congestion(const Ack& ack) {
    if (not epoch_start_us_) begin_epoch(ack.now_us);
    const double t = static_cast<double>(ack.now_us - *epoch_start_us_) / 1e6;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    // Section 4.3: Reno's window with this beta.
    const double alpha = w_est_ >= cwnd_prior_ ? 1 : 3 * (1 - beta_) / (1 + beta_);
    w_est_ += alpha * acknowledged / cwnd_;
    if (w_cubic(t) < w_est_) {
      cwnd_ = std::max(cwnd_, w_est_);
    } else {
      const double target = std::clamp(w_cubic(t + rtt_s_), cwnd_, 1.5 * cwnd_);
      cwnd_ += (target - cwnd_) / cwnd_ * acknowledged;
    }
    cwnd_ = std::min(cwnd_, widest_window);
  }

  // When the window may grow again, not when the loss was found.
  void begin_epoch(int64_t now_us) {
    epoch_start_us_ = now_us;
    w_est_ = cwnd_;
    if (cwnd_ < w_max_) {
      k_s_ = portable::cube_root((w_max_ - cwnd_) / c_);
    } else {
      k_s_ = 0;
      w_max_ = cwnd_;
    }
  }

  double w_cubic(double t) const { return c_ * (t - k_s_) * (t - k_s_) * (t - k_s_) + w_max_; }

  double c_;
  double beta_;
  bool fast_convergence_;
  bool has_hystart_;
  HyStart hystart_{};
  WholePackets whole_packets_;
  int64_t least_rtt_us_ = std::numeric_limits<int64_t>::max();
  double w_max_ = 0;
  double w_est_ = 0;
  double cwnd_prior_ = 0;
  double k_s_ = 0;
  double rtt_s_ = 0;
  std::optional<int64_t> epoch_start_us_{};
};

const Registration<Cubic> registration{
    "cubic", "CUBIC: returns to the window of the last loss, and beyond", "RFC 9438"};

}  // namespace
}  // namespace kneepoint
