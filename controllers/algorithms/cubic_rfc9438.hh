// CUBIC's congestion avoidance in the arithmetic of RFC 9438.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "algorithms/controller.hh"
#include "common/portable_math.hh"

namespace kneepoint {

// Windows are in packets, times in seconds; names are the RFC's.
class Rfc9438Cubic {
 public:
  Rfc9438Cubic(double c, double beta) : c_(c), beta_(beta) {}

  // After a loss; `cwnd_prior` is the window before it.
  void begin_anew(double cwnd_prior) {
    epoch_start_us_.reset();
    cwnd_prior_ = cwnd_prior;
  }

  // Returns the window after an acknowledgment; `w_max` is 0 before the first loss.
  double grow(double cwnd, double w_max, int64_t now_us, double rtt_s, uint64_t acknowledged) {
    if (not epoch_start_us_) begin_epoch(cwnd, w_max, now_us);
    const double t = static_cast<double>(now_us - *epoch_start_us_) / 1e6;
    const auto segments_acked = static_cast<double>(acknowledged);
    // Section 4.3: Reno's window with this beta.
    const double alpha = w_est_ >= cwnd_prior_ ? 1 : 3 * (1 - beta_) / (1 + beta_);
    w_est_ += alpha * segments_acked / cwnd;
    if (w_cubic(t) < w_est_) {
      cwnd = std::max(cwnd, w_est_);
    } else {
      const double target = std::clamp(w_cubic(t + rtt_s), cwnd, 1.5 * cwnd);
      cwnd += (target - cwnd) / cwnd * segments_acked;
    }
    return std::min(cwnd, widest_window);
  }

 private:
  // An epoch begins when the window may grow again, not when the loss is detected.
  void begin_epoch(double cwnd, double w_max, int64_t now_us) {
    epoch_start_us_ = now_us;
    w_est_ = cwnd;
    w_max_ = std::max(cwnd, w_max);
    k_s_ = portable::cube_root((w_max_ - cwnd) / c_);
  }

  double w_cubic(double t) const { return c_ * (t - k_s_) * (t - k_s_) * (t - k_s_) + w_max_; }

  double c_;
  double beta_;
  std::optional<int64_t> epoch_start_us_{};
  double w_max_ = 0;
  double w_est_ = 0;
  double cwnd_prior_ = 0;
  double k_s_ = 0;
};

}  // namespace kneepoint
