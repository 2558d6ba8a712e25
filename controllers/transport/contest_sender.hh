// The contest kit's sender, without I/O: its rules are the same in virtual and in real time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "algorithms/needs.hh"
#include "common/time.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "transport/missing_numbers.hh"
#include "transport/pacer.hh"

namespace kneepoint {

// It sends while fewer datagrams than the window are unacknowledged, and one more datagram, a
// keepalive, after a silence. If the controller needs heartbeats, keepalives have no payload, and
// acknowledgments do not end a silence, as in Sprout's program. Nothing is retransmitted; an
// acknowledgment covers all earlier datagrams. Controllers receive whole milliseconds.
//
// The driver owns the clock and the socket: it asks whether the window is open, sends, and reports
// events. Every call throws ControllerFailure if the controller misbehaves.
class ContestSender {
 public:
  // The log, which may be null, must outlive the sender.
  ContestSender(uint16_t flow, const ControllerHandle& controller, FlowLog* log)
      : flow_(flow), controller_(controller), log_(log) {}

  // Silence counts from now on; the controller is asked for its window.
  void start(Microseconds now_us) {
    last_activity_us_ = now_us;
    ask_controller();
  }

  bool window_is_open() const { return packets_sent_ < window_end_; }

  double window() const { return controller_.window(); }

  bool has_heartbeats() const { return has_heartbeats_; }

  // Also the number of the next datagram.
  uint64_t packets_sent() const { return packets_sent_; }

  // The next datagram leaves.
  void sent(Microseconds now_us) {
    const uint64_t sequence_number = packets_sent_++;
    last_activity_us_ = now_us;
    if (not attends_sending_) [[likely]]
      return;
    if (log_ != nullptr) log_->sent(now_us, flow_, sequence_number);
    if (controller_.handles_sent()) controller_.on_sent(sequence_number, whole_ms(now_us));
    if (controller_.paces()) {
      pacer_.sent(now_us, controller_.pacing_us());
      held_back_until_us_ = pacer_.next_us() > now_us ? pacer_.next_us() : never;
    }
    if (controller_.handles_sent() or controller_.paces()) ask_controller();
  }

  // When pacing lets the next datagram leave; never if pacing holds no datagram back.
  Microseconds held_back_until_us() const { return held_back_until_us_; }

  // Reopens the window if that time has come.
  void release(Microseconds now_us) {
    if (held_back_until_us_ > now_us) return;
    held_back_until_us_ = never;
    ask_controller();
  }

  // The sender reads the acknowledgment of a sent datagram, which reached this host at
  // `arrived_us`. ack() returns the whole event; it is called only if the controller or the log
  // needs it. A duplicate only ends a silence.
  [[gnu::always_inline]] void acknowledged(uint64_t sequence_number, Microseconds arrived_us,
                                           Microseconds now_us, const auto& ack) {
    if (not has_heartbeats_) last_activity_us_ = now_us;
    if (sequence_number != next_ack_expected_ and not is_news(sequence_number, now_us)) return;
    next_ack_expected_ = std::max(next_ack_expected_, sequence_number + 1);
    // A controller that does not handle acknowledgments keeps its window.
    window_end_ = next_ack_expected_ + window_packets_;
    if (attends_acks_) tell(ack(), arrived_us, now_us);
  }

  // When the sender acts without an arrival: for a keepalive, or for the next paced datagram.
  Microseconds wakes_us() const { return std::min(idle_deadline_us(), held_back_until_us_); }

  // When a keepalive is due if no event precedes it.
  Microseconds idle_deadline_us() const { return last_activity_us_ + silence_us_; }

  // The silence is over: the next datagram is sent regardless of the window. A rule that handles
  // keepalives is not notified of losses among the packets in flight: one congestion event causes
  // one reduction (RFC 9438, section 4.8). Packets sent after it are not part of a recovery (RFC
  // 9002, section 7.6.2).
  void keepalive(Microseconds now_us) {
    last_activity_us_ = now_us;
    const bool is_repeated =
        std::exchange(expected_in_silence_, next_ack_expected_) == next_ack_expected_;
    controller_.on_keepalive({.now_ms = whole_ms(now_us),
                              .now_us = now_us,
                              .in_flight = packets_sent_ - next_ack_expected_,
                              .is_repeated = is_repeated});
    if (controller_.handles_keepalives()) {
      congestion_end_ = packets_sent_;
      recovery_end_ = 0;
    }
    ask_controller();
    if (log_ != nullptr) log_->keepalive(now_us, flow_, controller_.window());
  }

 private:
  void tell(Ack ack, Microseconds arrived_us, Microseconds now_us) {
    ack.now_us = now_us;
    ack.rtt_us = ack.rtt_ms() * 1000;
    ack.in_flight = packets_sent_ - next_ack_expected_;
    ack.delivered = ++delivered_;
    ack.lost = next_ack_expected_ - delivered_;
    ack.is_recovering = ack.sequence_number < recovery_end_;
    controller_.on_ack(ack);
    ask_controller();
    if (log_ != nullptr) [[unlikely]] {
      log_->acknowledged(arrived_us, flow_, ack.sequence_number, ack.rtt_ms(),
                         controller_.window());
    }
  }

  // Whether an acknowledgment out of order reports anything new. Paths keep the order of datagrams:
  // for each number that it skips, the datagram is lost, or its acknowledgment.
  [[gnu::noinline]] bool is_news(uint64_t sequence_number, Microseconds now_us) {
    if (sequence_number < next_ack_expected_) return missing_.take(sequence_number);
    missing_.skip(next_ack_expected_, sequence_number);
    if (controller_.handles_loss()) report_loss(now_us);
    return true;
  }

  // At most once for all packets sent before the loss is detected; until these are acknowledged,
  // windows do not grow (RFC 9002, section 7.3.2).
  void report_loss(Microseconds now_us) {
    if (next_ack_expected_ < congestion_end_) return;
    congestion_end_ = recovery_end_ = packets_sent_;
    controller_.on_loss({.now_ms = whole_ms(now_us),
                         .now_us = now_us,
                         .kind = Loss::Kind::lost,
                         .in_flight = packets_sent_ - next_ack_expected_});
  }

  // A controller's answers change only with the events that it receives, so that it is asked after
  // each event, not before each datagram; during a pacing gap, it is asked once the gap is over.
  void ask_controller() {
    if (held_back_until_us_ != never) {
      window_end_ = 0;
      return;
    }
    window_packets_ = static_cast<uint32_t>(controller_.window());
    window_end_ = next_ack_expected_ + window_packets_;
    silence_us_ = static_cast<Milliseconds>(controller_.keepalive_ms()) * 1000;
  }

  uint16_t flow_;
  ControllerHandle controller_;
  FlowLog* log_;
  bool attends_acks_ = controller_.handles_acks() or controller_.handles_loss() or
                       log_ != nullptr or controller_.paces();
  bool attends_sending_ = log_ != nullptr or controller_.handles_sent() or controller_.paces();
  bool has_heartbeats_ = (controller_.needs() & needs::heartbeats) != 0;
  Pacer pacer_{};
  Microseconds held_back_until_us_ = never;
  uint64_t packets_sent_ = 0;
  uint64_t next_ack_expected_ = 0;
  uint64_t delivered_ = 0;
  MissingNumbers missing_{};
  // The first number sent after the last congestion event, a loss or a silence, and the first
  // number sent after the last loss, 0 if the last event was a silence.
  uint64_t congestion_end_ = 0;
  uint64_t recovery_end_ = 0;
  uint64_t expected_in_silence_ = std::numeric_limits<uint64_t>::max();  // at the last keepalive
  uint32_t window_packets_ = 0;
  uint64_t window_end_ = 0;      // the first number that may not be sent yet
  Microseconds silence_us_ = 0;  // until the keepalive
  Microseconds last_activity_us_ = 0;
};

}  // namespace kneepoint
