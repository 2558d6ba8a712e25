// CUBIC, RFC 9438. Windows are in packets, times in seconds.
#include <algorithm>
#include <cmath>

#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"

namespace kneepoint {
namespace {

class Cubic final : public Controller {
 public:
  explicit Cubic(Constants& constants)
      : Controller(constants, 1000),
        cwnd_(initial_window(constants)),
        ssthresh_(initial_ssthresh(constants)),
        c_(constants.real({.name = "c",
                           .fallback = 0.4,
                           .low = 0.05,
                           .high = 4,
                           .least = 1e-6,
                           .scale = Scale::log,
                           .unit = "packets/s^3",
                           .meaning = "how steeply the window returns to where it was"})),
        beta_(constants.real({.name = "beta",
                              .fallback = 0.7,
                              .low = 0.3,
                              .high = 0.9,
                              .least = 0.01,
                              .most = 0.99,
                              .unit = "1",
                              .meaning = "what a loss leaves of the window"})),
        fast_convergence_(constants.integer({.name = "fast_convergence",
                                             .fallback = 1,
                                             .low = 0,
                                             .high = 1,
                                             .most = 1,
                                             .unit = "0 or 1",
                                             .meaning = "gives way further when losses come "
                                                        "earlier than before"}) != 0),
        has_hystart_(constants.flag("hystart", "leaves slow start when the RTT grows")) {}

  double window() const override { return cwnd_; }

  void on_ack(const Ack& ack) override {
    if (ack.is_recovering) return;
    if (ack.rtt_us >= 0) {
      rtt_s_ = static_cast<double>(ack.rtt_us) / 1e6;
    } else if (rtt_s_ == 0) {
      rtt_s_ = static_cast<double>(ack.rtt_ms()) / 1e3;
    }
    if (cwnd_ < ssthresh_) {
      cwnd_ = std::min(cwnd_ + static_cast<double>(ack.acknowledged), ssthresh_);
      if (has_hystart_ and hystart_.sees_the_end(ack, cwnd_)) ssthresh_ = cwnd_;
      return;
    }
    avoid_congestion(ack);
  }

  void on_loss(const Loss& loss) override {
    epoch_start_us_ = none_;
    // Section 4.7: a flow that lost earlier than before leaves room for another.
    w_max_ = fast_convergence_ and cwnd_ < w_max_ ? cwnd_ * (1 + beta_) / 2 : cwnd_;
    ssthresh_ = std::max(cwnd_ * beta_, 2.0);
    cwnd_prior_ = cwnd_;
    cwnd_ = loss.kind == Loss::Kind::timed_out ? 1 : ssthresh_;
  }

  // A silence is a retransmission timeout where nothing is sent again.
  void on_keepalive(int64_t now_ms) override {
    on_loss({now_ms, now_ms * 1000, Loss::Kind::timed_out, 0});
  }

 private:
  void avoid_congestion(const Ack& ack) {
    const int64_t now_us = ack.now_us > 0 ? ack.now_us : ack.ack_received_ms * 1000;
    if (epoch_start_us_ == none_) begin_epoch(now_us);
    const double t = static_cast<double>(now_us - epoch_start_us_) / 1e6;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    // Section 4.3: what Reno would have with this beta.
    const double alpha = w_est_ >= cwnd_prior_ ? 1 : 3 * (1 - beta_) / (1 + beta_);
    w_est_ += alpha * acknowledged / cwnd_;
    if (w_cubic(t) < w_est_) {
      cwnd_ = std::max(cwnd_, w_est_);
    } else {
      const double target = std::clamp(w_cubic(t + rtt_s_), cwnd_, 1.5 * cwnd_);
      cwnd_ += (target - cwnd_) / cwnd_ * acknowledged;
    }
    cwnd_ = std::min(cwnd_, widest_);
  }

  // When the window may grow again, not when the loss was found.
  void begin_epoch(int64_t now_us) {
    epoch_start_us_ = now_us;
    w_est_ = cwnd_;
    if (cwnd_ < w_max_) {
      k_s_ = cube_root((w_max_ - cwnd_) / c_);
    } else {
      k_s_ = 0;
      w_max_ = cwnd_;
    }
  }

  double w_cubic(double t) const { return c_ * (t - k_s_) * (t - k_s_) * (t - k_s_) + w_max_; }

  // By Newton's iteration: the C library's differs between machines in the last bit.
  static double cube_root(double x) {
    if (x <= 0) return 0;
    double root = std::max(1.0, x);
    for (int i = 0; i < 200; ++i) {
      const double next = (2 * root + x / (root * root)) / 3;
      if (next >= root) break;
      root = next;
    }
    return root;
  }

  static constexpr int64_t none_ = -1;
  static constexpr double widest_ = 1 << 20;

  double cwnd_;
  double ssthresh_;
  double c_;
  double beta_;
  bool fast_convergence_;
  bool has_hystart_;
  HyStart hystart_{};
  double w_max_ = 0;
  double w_est_ = 0;
  double cwnd_prior_ = 0;
  double k_s_ = 0;
  double rtt_s_ = 0;
  int64_t epoch_start_us_ = none_;
};

const Registration<Cubic> registration{
    "cubic", "CUBIC: returns to the window of the last loss, and beyond", "RFC 9438"};

}  // namespace
}  // namespace kneepoint
