// The contest kit's sender, without I/O: the rules that hold in virtual and in real time.
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

// It sends while fewer datagrams than the window are unacknowledged, and one more, a keepalive,
// after a silence. Of a controller that needs heartbeats, it has no payload, and acknowledgments do
// not end a silence: as in Sprout's program. Nothing is retransmitted; an acknowledgment covers all
// earlier datagrams. Controllers hear whole milliseconds.
//
// Whoever runs it owns the clock and the socket: asks whether the window is open, sends, and says
// what happened. Every call throws ControllerFailure where the controller misbehaves.
class ContestSender {
 public:
  // The log, which may be null, must outlive it.
  ContestSender(uint16_t flow, const ControllerHandle& controller, FlowLog* log)
      : flow_(flow), controller_(controller), log_(log) {}

  // From now on silence counts, and the controller is asked.
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

  // The time at which the window reopens, for a controller that paces; never, if nothing is held
  // back.
  Microseconds held_back_until_us() const { return held_back_until_us_; }

  // That time may have come.
  void release(Microseconds now_us) {
    if (held_back_until_us_ > now_us) return;
    held_back_until_us_ = never;
    ask_controller();
  }

  // An acknowledgment of that datagram, one of those sent, which reached this host at
  // `arrived_us`, is read. All that it tells, ack(), is asked for only if somebody hears it. A
  // duplicate only ends a silence.
  [[gnu::always_inline]] void acknowledged(uint64_t sequence_number, Microseconds arrived_us,
                                           Microseconds now_us, const auto& ack) {
    if (not has_heartbeats_) last_activity_us_ = now_us;
    if (sequence_number != next_ack_expected_ and not is_news(sequence_number, now_us)) return;
    next_ack_expected_ = std::max(next_ack_expected_, sequence_number + 1);
    // A controller that hears of none decides as before.
    window_end_ = next_ack_expected_ + window_packets_;
    if (attends_acks_) tell(ack(), arrived_us, now_us);
  }

  // When time alone changes something: a keepalive, or the next datagram of one that paces.
  Microseconds wakes_us() const { return std::min(idle_deadline_us(), held_back_until_us_); }

  // When a keepalive is due if nothing happens until then.
  Microseconds idle_deadline_us() const { return last_activity_us_ + silence_us_; }

  // The silence is over: the next datagram is sent regardless of the window. A rule that hears of
  // it hears of no loss among what is in flight: one congestion event, one reduction (RFC 9438,
  // section 4.8). What it sends then is no recovery (RFC 9002, section 7.6.2).
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

  // Of one out of order. Ways keep the order of datagrams: what it skips is lost, or its
  // acknowledgment is.
  [[gnu::noinline]] bool is_news(uint64_t sequence_number, Microseconds now_us) {
    if (sequence_number < next_ack_expected_) return missing_.take(sequence_number);
    missing_.skip(next_ack_expected_, sequence_number);
    if (controller_.handles_loss()) report_loss(now_us);
    return true;
  }

  // Once for what was sent before it is found out; meanwhile windows do not grow (RFC 9002, section
  // 7.3.2).
  void report_loss(Microseconds now_us) {
    if (next_ack_expected_ < congestion_end_) return;
    congestion_end_ = recovery_end_ = packets_sent_;
    controller_.on_loss({.now_ms = whole_ms(now_us),
                         .now_us = now_us,
                         .kind = Loss::Kind::lost,
                         .in_flight = packets_sent_ - next_ack_expected_});
  }

  // It decides by what it hears, so that it is asked after that and not before each datagram; in a
  // gap, once that is over.
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
  // The first numbers sent after the last congestion, of which a loss or a silence told, and after
  // the loss, if it was one.
  uint64_t congestion_end_ = 0;
  uint64_t recovery_end_ = 0;
  uint64_t expected_in_silence_ = std::numeric_limits<uint64_t>::max();  // at the last keepalive
  uint32_t window_packets_ = 0;
  uint64_t window_end_ = 0;      // the first number that may not be sent yet
  Microseconds silence_us_ = 0;  // until the keepalive
  Microseconds last_activity_us_ = 0;
};

}  // namespace kneepoint
