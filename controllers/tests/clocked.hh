// A controller of a sender whose window is always full: each acknowledgment lets further packets
// leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/running.hh"

namespace kneepoint::test {

class Clocked {
 public:
  static constexpr double unmeasured = -1e-3;

  Clocked(const std::string& name, const Parameters::Values& values)
      : controller_(make_controller(name, values)) {
    fill();
  }

  // Acknowledges `packets` packets, `gap_ms` after the previous acknowledgment, and returns the
  // window. An RTT of `unmeasured` stands for an acknowledgment of a TCP retransmission, which
  // gives no RTT.
  double ack(double rtt_ms, uint64_t packets = 1, double gap_ms = 1) {
    now_us_ += static_cast<int64_t>(gap_ms * 1000);
    acknowledged_ += packets;
    delivered_ += packets;
    const auto rtt_us = static_cast<int64_t>(rtt_ms * 1000);
    has_heard_ = true;
    controller_->on_ack({.sequence_number = acknowledged_ - 1,
                         .sent_ms = (now_us_ - rtt_us) / 1000,
                         .received_ms = is_tcp ? -1 : arrived_ms(rtt_us),
                         .ack_received_ms = now_us_ / 1000,
                         .now_us = now_us_,
                         .rtt_us = rtt_us,
                         .acknowledged = packets,
                         .in_flight = flight(),
                         .delivered = delivered_,
                         .lost = acknowledged_ - delivered_,
                         .marked = marked,
                         .is_recovering = is_recovering,
                         .is_cwnd_limited = is_cwnd_limited});
    fill();
    return window();
  }

  // Acknowledges all packets in flight, one by one, within a round trip.
  double round(double rtt_ms) {
    const uint64_t packets = flight();
    for (uint64_t i = 0; i < packets; ++i) ack(rtt_ms, 1, rtt_ms / static_cast<double>(packets));
    return window();
  }

  // The next `packets` packets are lost, unless late() acknowledges them.
  void skip(uint64_t packets) { acknowledged_ += packets; }
  double late(uint64_t number) {
    controller_->on_ack({.sequence_number = number,
                         .sent_ms = 0,
                         .received_ms = now_us_ / 1000,
                         .ack_received_ms = now_us_ / 1000,
                         .now_us = now_us_,
                         .delivered = ++delivered_});
    return window();
  }
  uint64_t next_acknowledged() const { return acknowledged_; }

  double lose(Loss::Kind kind = Loss::Kind::lost) {
    const bool is_timeout = kind == Loss::Kind::timed_out;
    controller_->on_loss({.now_ms = now_us_ / 1000,
                          .now_us = now_us_,
                          .kind = kind,
                          .in_flight = flight(),
                          .is_repeated = is_timeout and not has_heard_});
    if (is_timeout) has_heard_ = false;
    return window();
  }
  double undo() {
    controller_->on_undo({.now_ms = now_us_ / 1000, .now_us = now_us_});
    return window();
  }
  double keepalive() {
    controller_->on_keepalive({.now_ms = now_us_ / 1000,
                               .now_us = now_us_,
                               .in_flight = flight(),
                               .is_repeated = not has_heard_});
    has_heard_ = false;
    return window();
  }
  void wait(double ms) { now_us_ += static_cast<int64_t>(ms * 1000); }

  double window() const { return controller_->window(); }
  double keepalive_ms() const { return controller_->keepalive_ms(); }
  double pacing_us() const { return controller_->pacing_us(); }
  uint64_t flight() const { return sent_ - acknowledged_; }
  double now_s() const { return static_cast<double>(now_us_) / 1e6; }

  bool is_tcp = false;
  bool is_recovering = false;
  bool is_cwnd_limited = true;
  uint64_t marked = 0;                  // in each acknowledgment
  std::optional<int64_t> one_way_ms{};  // delay that the receiver's clock shows; by default the RTT

 private:
  int64_t arrived_ms(int64_t rtt_us) const {
    return (now_us_ - rtt_us) / 1000 + one_way_ms.value_or(rtt_us / 1000);
  }

  void fill() {
    while (flight() < static_cast<uint64_t>(controller_->window())) {
      controller_->on_sent(sent_++, now_us_ / 1000);
    }
  }

  LoadedController controller_;
  int64_t now_us_ = 10'000'000;
  uint64_t sent_ = 0;
  uint64_t acknowledged_ = 0;
  uint64_t delivered_ = 0;
  bool has_heard_ = true;  // an acknowledgment since the last timeout
};

}  // namespace kneepoint::test
