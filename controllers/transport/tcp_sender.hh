// TCP's sender, without I/O, in units of segments: the connection, and the choice of segments to
// send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "common/time.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "transport/loss_detection.hh"
#include "transport/pacer.hh"
#include "transport/recovery.hh"
#include "transport/retransmission_timer.hh"
#include "transport/scoreboard.hh"
#include "transport/tcp.hh"

namespace kneepoint {

// The driver owns the clock: it calls send() until there is nothing to send, reports arrivals, and
// calls timer() at timer_us(). Every call throws ControllerFailure if the controller misbehaves.
class TcpSender {
 public:
  // The log, which may be null, must outlive the sender.
  TcpSender(uint16_t flow, const ControllerHandle& controller, const TcpSettings& settings,
            uint64_t segments, FlowLog* log);
  TcpSender(const TcpSender&) = delete;
  TcpSender& operator=(const TcpSender&) = delete;

  // Opens the connection.
  void start() { state_ = State::syn_to_send; }
  // The other end opens the connection. answer_syn(): its SYN is answered; accept(): a segment
  // after the SYN has arrived.
  void answer_syn(Microseconds now_us);
  void accept(Microseconds now_us);
  // Adds segments to be sent.
  void offer(uint64_t segments) { end_ += segments; }
  // Sends no new segments from now on.
  void stop() { end_ = std::min(end_, board_.next()); }

  // Returns a segment that may be sent now, and counts it as sent.
  std::optional<TcpSegment> send(Microseconds now_us);

  void acknowledged(const TcpAcknowledgment& ack, Microseconds now_us);

  // When pacing lets the next segment leave; never if pacing holds no segment back.
  Microseconds held_back_until_us() const { return held_back_until_us_; }

  Microseconds timer_us() const { return std::min(timer_.expires_us(), detection_->timer_us()); }
  void timer(Microseconds now_us);

  // The half of a connection that never sends is closed, too.
  bool is_closed() const { return state_ == State::closed; }
  bool is_open() const { return state_ == State::established; }
  // Whether everything is acknowledged.
  bool is_done() const { return is_open() and board_.una() >= end_; }

  double window() const { return controller_.window(); }
  // The number of RTT samples, and the last sample.
  uint64_t rtt_samples() const { return rtt_samples_; }
  Microseconds last_rtt_us() const { return last_rtt_us_; }
  // The number of loss events: fast recoveries, losses that a probe repaired, and retransmission
  // timeouts of data.
  uint64_t loss_events() const { return loss_events_; }
  bool is_recovering() const { return recovery_.is_fast(); }

 private:
  enum class State { closed, syn_to_send, syn_sent, syn_answered, established };

  uint64_t window_packets() const;
  // The most outstanding segments that the sockets' buffers allow, regardless of the window.
  uint64_t max_outstanding() const { return std::min(peer_window_, buffered_packets_); }
  bool has_new() const { return board_.next() < end_ and board_.outstanding() < max_outstanding(); }
  bool is_cwnd_limited(uint64_t delivered) const;
  double gap_us() const;
  // Returns whether a segment may leave now; if so, it must leave, since its pacing gap has begun.
  bool try_consume_pacing(Microseconds now_us);
  TcpSegment send_syn(Microseconds now_us);
  std::optional<TcpSegment> send_lost(uint64_t number, Microseconds now_us);
  TcpSegment send_new(Microseconds now_us);
  std::optional<TcpSegment> send_doubtful(uint64_t window, Microseconds now_us);
  TcpSegment retransmit(uint64_t number, Microseconds now_us);
  void depart(uint64_t number, Microseconds now_us);
  void open(Microseconds now_us);
  void measure(const TcpAcknowledgment& ack, Microseconds now_us);
  void measure_by_sack(const std::vector<Scoreboard::Delivery>& deliveries, Microseconds now_us);
  void undo(const TcpAcknowledgment& ack, Microseconds now_us);
  void begin_recovery(Microseconds now_us);
  void hear_of_mark(Microseconds now_us);
  void reduce(Loss::Kind kind, Microseconds now_us, bool is_repeated = false);
  void tell_controller(const TcpAcknowledgment& ack,
                       const std::vector<Scoreboard::Delivery>& deliveries, Microseconds now_us);
  void restart_timer(Microseconds now_us);
  void time_out(Microseconds now_us);

  uint16_t flow_;
  ControllerHandle controller_;
  TcpSettings settings_;
  uint64_t end_;  // the number of all segments
  FlowLog* log_;
  uint64_t buffered_packets_ = settings_.buffered_packets();
  State state_ = State::closed;

  Scoreboard board_;
  bool owns_cwnd_in_recovery_;  // the controller
  Recovery recovery_;
  RetransmissionTimer timer_;
  std::unique_ptr<LossDetection> detection_;
  Pacer pacer_{};

  uint64_t peer_window_ = 1;
  Microseconds held_back_until_us_ = never;
  Microseconds first_again_us_ = never;  // when this recovery's first retransmission was sent
  bool must_retransmit_ = false;         // a recovery's first retransmission ignores the window
  bool must_probe_ = false;
  uint64_t timed_out_ = std::numeric_limits<uint64_t>::max();  // the segment that timed out last
  uint64_t reduction_end_ = 0;  // with ECN: the first number sent after the last reduction
  bool must_tell_reduction_ = false;
  Ecn ecn_;             // of new data
  uint64_t marks_ = 0;  // marks reported to the controller

  Microseconds syn_sent_us_ = 0;  // or answered
  bool syn_was_repeated_ = false;
  Microseconds last_rtt_us_ = -1;
  uint64_t rtt_samples_ = 0;
  uint64_t loss_events_ = 0;
};

}  // namespace kneepoint
