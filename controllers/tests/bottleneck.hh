// A controller over one bottleneck: a queue without limit, served at a constant rate, and a
// constant propagation delay. Times are exact, in microseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tests/running.hh"

namespace kneepoint::test {

class Bottleneck {
 public:
  Bottleneck(const std::string& name, const Parameters::Values& values, double packets_per_s,
             double rtt_ms)
      : controller_(make_controller(name, values)),
        gap_us_(1e6 / packets_per_s),
        rtt_us_(rtt_ms * 1e3) {}

  void set_rate(double packets_per_s) { gap_us_ = 1e6 / packets_per_s; }
  // Every `packets`-th packet is lost.
  void lose_every(uint64_t packets) { lost_every_ = packets; }
  void set_rtt(double rtt_ms) { rtt_us_ = rtt_ms * 1e3; }

  void run_until(double end_s) {
    const double end_us = end_s * 1e6;
    while (true) {
      const double next_us = std::min(next_send_us(), next_ack_us());
      if (next_us > end_us) break;
      now_us_ = std::max(now_us_, next_us);
      if (next_ack_us() <= next_us) {
        acknowledge();
      } else {
        send();
      }
    }
    now_us_ = end_us;
  }

  const ControllerHandle& controller() const { return controller_; }
  double window() const { return controller_->window(); }
  double sending_rate() const { return 1e6 / controller_->pacing_us(); }
  double now_s() const { return now_us_ / 1e6; }
  double flight() const { return static_cast<double>(out_.size()); }
  // Packets that wait in the queue now.
  double queue() const { return std::max(served_until_us_ - now_us_, 0.0) / gap_us_; }
  uint64_t delivered() const { return delivered_; }
  uint64_t lost() const { return lost_; }
  void lose(Loss::Kind kind) {
    const auto now_us = static_cast<int64_t>(now_us_);
    controller_->on_loss(
        {.now_ms = now_us / 1000, .now_us = now_us, .kind = kind, .in_flight = out_.size()});
  }
  void recover() {
    lose(Loss::Kind::lost);
    is_recovering = true;
  }
  void undo() {
    const auto now_us = static_cast<int64_t>(now_us_);
    controller_->on_undo({.now_ms = now_us / 1000, .now_us = now_us});
  }

  bool is_recovering = false;
  bool tells_of_losses = true;
  bool is_idle = false;  // the application has nothing to send

 private:
  static constexpr double never_ = 1e300;

  struct Packet {
    uint64_t number;
    double sent_us;
    double ack_us;
  };

  double next_send_us() const {
    if (is_idle) return never_;
    return flight() < std::floor(controller_->window()) ? std::max(now_us_, may_send_us_) : never_;
  }
  double next_ack_us() const { return out_.empty() ? never_ : out_.front().ack_us; }

  void send() {
    served_until_us_ = std::max(served_until_us_, now_us_) + gap_us_;
    out_.push_back({sent_, now_us_, served_until_us_ + rtt_us_});
    controller_->on_sent(sent_++, static_cast<int64_t>(now_us_) / 1000);
    if (controller_->paces()) may_send_us_ = now_us_ + controller_->pacing_us();
  }

  void acknowledge() {
    const Packet packet = out_.front();
    out_.pop_front();
    if (lost_every_ > 0 and packet.number % lost_every_ == 0) {
      ++lost_;
      return;
    }
    // The transports, too, report a loss at most once in a round trip.
    if (lost_ > told_ and packet.number >= recovery_end_) {
      recovery_end_ = sent_;
      if (tells_of_losses) lose(Loss::Kind::lost);
    }
    told_ = lost_;
    const auto rtt_us = static_cast<int64_t>(std::llround(now_us_ - packet.sent_us));
    const auto now_us = static_cast<int64_t>(std::llround(now_us_));
    controller_->on_ack({.sequence_number = packet.number,
                         .sent_ms = (now_us - rtt_us) / 1000,
                         .received_ms = now_us / 1000,
                         .ack_received_ms = now_us / 1000,
                         .now_us = now_us,
                         .rtt_us = rtt_us,
                         .in_flight = out_.size(),
                         .delivered = ++delivered_,
                         .lost = lost_,
                         .is_recovering = is_recovering});
  }

  LoadedController controller_;
  double gap_us_;
  double rtt_us_;
  double now_us_ = 1e6;
  double served_until_us_ = 0;
  double may_send_us_ = 0;
  std::deque<Packet> out_{};
  uint64_t sent_ = 0;
  uint64_t delivered_ = 0;
  uint64_t lost_every_ = 0;
  uint64_t lost_ = 0;
  uint64_t told_ = 0;
  uint64_t recovery_end_ = 0;
};

// A time during which the controller paces at `gain` times a given rate.
struct Phase {
  double gain;
  double length_s;
};
inline std::vector<Phase> phases(Bottleneck& link, double rate, double length_s) {
  std::vector<Phase> all;
  const double end_s = link.now_s() + length_s;
  while (link.now_s() < end_s) {
    const double gain = 1e6 / link.controller().pacing_us() / rate;
    if (all.empty() or std::abs(all.back().gain - gain) > 0.02) all.push_back({gain, 0});
    all.back().length_s += 0.001;
    link.run_until(link.now_s() + 0.001);
  }
  return all;
}

}  // namespace kneepoint::test
