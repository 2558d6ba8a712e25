// CUBIC's congestion avoidance in Linux's arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "algorithms/controller.hh"
#include "algorithms/whole_window.hh"
#include "common/portable_math.hh"

namespace kneepoint {

// As in Linux 6 (net/ipv4/tcp_cubic.c): windows are whole packets, and the window grows by one
// packet for every `packets_for_one_` acknowledged packets. This number is recomputed when the
// window has changed or after 32 ms. Linux counts time in jiffies, of 1 ms here, and in units of
// 1/1024 s.
class LinuxCubic {
 public:
  LinuxCubic(double c, double beta)
      : scale_(std::round(c * 1024)),
        reno_scale_(std::floor(8 * (1024 + std::round(beta * 1024)) / 3 /
                               (1024 - std::round(beta * 1024)))) {}

  // After a loss.
  void begin_anew() {
    epoch_start_ms_.reset();
    whole_window_.begin_anew();
  }

  // Returns the window after an acknowledgment; `w_max` is 0 before the first loss.
  double grow(double window, double w_max, int64_t now_us, int64_t min_rtt_us,
              uint64_t acknowledged) {
    update(window, w_max, now_us / 1000, min_rtt_us / 1000, static_cast<double>(acknowledged));
    return std::min(whole_window_.grow(window, packets_for_one_, static_cast<double>(acknowledged)),
                    widest_window);
  }

 private:
  void update(double window, double w_max, int64_t now_ms, int64_t min_rtt_ms,
              double acknowledged) {
    acknowledged_in_epoch_ += acknowledged;
    if (window == last_window_ and now_ms - last_update_ms_ <= longest_unchanged_ms_) return;
    if (not epoch_start_ms_ or now_ms != last_update_ms_) {
      last_window_ = window;
      last_update_ms_ = now_ms;
      if (not epoch_start_ms_) begin_epoch(window, w_max, now_ms, acknowledged);
      const auto t = static_cast<double>((now_ms - *epoch_start_ms_ + min_rtt_ms) * 1024 / 1000);
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

  double scale_;       // of the cube, in 1/1024 packets/s^3
  double reno_scale_;  // packets acknowledged per packet of Reno's growth, at a window of 8
  std::optional<int64_t> epoch_start_ms_{};
  int64_t last_update_ms_ = 0;
  double last_window_ = 0;
  double plateau_ = 0;
  double k_ = 0;  // from the epoch's start to the plateau, in 1/1024 s
  double packets_for_one_ = 0;
  WholeWindow whole_window_{};
  double acknowledged_in_epoch_ = 0;
  double reno_window_ = 0;
};

}  // namespace kneepoint
