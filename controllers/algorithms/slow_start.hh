// Slow start, and its end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "algorithms/controller.hh"
#include "algorithms/parameters.hh"

namespace kneepoint {

inline double initial_ssthresh(Parameters& parameters) {
  return parameters.real("initial_ssthresh", 1 << 20,
                         {.low = 2, .high = 1 << 20, .min = 1, .scale = Scale::log}, "packets",
                         "window at which the first slow start ends");
}

// A rule with a window and a slow-start threshold. Losses reduce both, and both are restored if the
// losses were spurious (RFC 4015; in Linux, tcp_undo_cwnd_reduction). A repeated timeout changes
// neither (RFC 5681, section 3.1).
class SlowStarting : public TimingOut {
 public:
  void on_loss(const Loss& loss) override {
    if (loss.is_repeated) return;
    cwnd_before_ = cwnd_;
    ssthresh_before_ = ssthresh_;
    reduce(loss);
  }

  void on_undo(const Undo&) override {
    cwnd_ = std::max(cwnd_, cwnd_before_);
    ssthresh_ = std::max(ssthresh_, ssthresh_before_);
  }

 protected:
  explicit SlowStarting(Parameters& parameters, double initial = 10)
      : TimingOut(parameters, initial), ssthresh_(initial_ssthresh(parameters)) {}

  virtual void reduce(const Loss& loss) = 0;

  double ssthresh_;

 private:
  double cwnd_before_ = 0;
  double ssthresh_before_ = 0;
};

// Leaves slow start before the queue overflows: when the acknowledgments of a round have come in a
// train longer than half of the min RTT, or when the RTT has grown by an eighth, but at least 4
// and at most 16 ms (Ha, Rhee: Taming the elephants, Computer Networks 55, 2011; HyStart as in
// Linux).
class HyStart {
 public:
  // Whether slow start should end, before the acknowledgment changes the window.
  bool sees_the_end(const Ack& ack, double window) {
    const double rtt_ms = ack.rtt_us >= 0 ? static_cast<double>(ack.rtt_us) / 1e3 : infinity;
    if (ack.sequence_number >= next_round_) {
      next_round_ = ack.sequence_number + ack.in_flight + 1;
      round_start_us_ = last_ack_us_ = ack.now_us;
      round_rtt_ms_ = infinity;
      samples_ = 0;
    }
    min_rtt_ms_ = std::min(min_rtt_ms_, rtt_ms);
    if (window < min_window_) return false;
    if (ack.now_us - last_ack_us_ <= train_gap_us_) {
      last_ack_us_ = ack.now_us;
      if (static_cast<double>(ack.now_us - round_start_us_) / 1000 > min_rtt_ms_ / 2) return true;
    }
    round_rtt_ms_ = std::min(round_rtt_ms_, rtt_ms);
    if (samples_ < rtt_samples_) {
      ++samples_;
      return false;
    }
    return round_rtt_ms_ > min_rtt_ms_ + std::clamp(min_rtt_ms_ / 8, 4.0, 16.0);
  }

 private:
  static constexpr double min_window_ = 16;
  static constexpr int64_t train_gap_us_ = 2000;
  static constexpr int rtt_samples_ = 8;

  uint64_t next_round_ = 0;  // begins with this packet, the first sent in the present round
  int64_t round_start_us_ = 0;
  int64_t last_ack_us_ = 0;
  double min_rtt_ms_ = infinity;
  double round_rtt_ms_ = infinity;
  int samples_ = 0;
};

}  // namespace kneepoint
