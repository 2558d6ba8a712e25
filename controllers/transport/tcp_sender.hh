// TCP's sender, without I/O, in units of segments: connection, loss detection, recovery, timeouts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

#include "common/time.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "transport/pacer.hh"
#include "transport/rack.hh"

namespace kneepoint {

// On the link: 1448 bytes of payload, 52 of IP and TCP with timestamps, 4 of TUN.
constexpr uint16_t tcp_segment_bytes = 1504;
constexpr uint16_t tcp_payload_bytes = 1448;
constexpr uint16_t tcp_acknowledgment_bytes = 56;  // without SACK blocks

struct TcpSettings {
  bool sack = true;                       // recovery by RFC 6675; otherwise NewReno, RFC 6582
  Microseconds least_rto_us = 1'000'000;  // RFC 6298; Linux has 200 ms
  // Of the RTO over the smoothed RTT. RFC 6298: the clock's granularity G; Linux: 200 ms, by which
  // tcp_rto_min bounds rttvar.
  Microseconds least_rto_margin_us = 1000;
  Microseconds delayed_ack_us = 40'000;  // at most; 0: every segment is acknowledged at once
  uint64_t quick_acks = 0;  // so many of a connection's first segments are; 16 in Linux
  uint64_t receive_window_packets = 1 << 20;
  bool ecn = false;   // RFC 3168
  bool rack = false;  // losses are found by time, and a lost tail by a probe, RFC 8985; with SACK
  bool prr = false;   // recovery sends in proportion to what is delivered, RFC 6937; with SACK
};

// Segments [begin, end) that have arrived out of order.
struct SackBlock {
  uint64_t begin;
  uint64_t end;
};

// What an acknowledgment says. That of the SYN acknowledges nothing.
struct TcpAcknowledgment {
  uint64_t next_expected = 0;
  bool is_of_syn = false;
  size_t block_count = 0;
  std::array<SackBlock, 3> blocks{};  // the latest first (RFC 2018)
  uint64_t window_packets = 0;
  bool echoes_mark = false;  // ECE
};

// The retransmission timeout, RFC 6298: max(least, SRTT + max(least margin, 4 RTTVAR)).
class RtoEstimate {
 public:
  explicit RtoEstimate(const TcpSettings& settings)
      : least_us_(settings.least_rto_us), least_margin_us_(settings.least_rto_margin_us) {}

  void add(Microseconds rtt_us);
  void back_off() { rto_us_ = std::min(2 * rto_us_, longest_us_); }
  Microseconds rto_us() const { return rto_us_; }
  Microseconds smoothed_us() const { return srtt_us_; }

 private:
  static constexpr Microseconds longest_us_ = 60'000'000;

  Microseconds least_us_;
  Microseconds least_margin_us_;
  Microseconds srtt_us_ = -1;
  Microseconds rttvar_us_ = 0;
  Microseconds rto_us_ = 1'000'000;
};

// The driver owns the clock: it asks what to send until there is nothing, reports arrivals, and
// calls timer() at timer_us(). Every call throws ControllerFailure if the controller misbehaves.
class TcpSender {
 public:
  static constexpr uint64_t endless = std::numeric_limits<uint64_t>::max();

  // The log, which may be null, must outlive it.
  TcpSender(uint16_t flow, const ControllerHandle& controller, const TcpSettings& settings,
            uint64_t segments, FlowLog* log)
      : flow_(flow),
        controller_(controller),
        settings_(settings),
        end_(segments),
        log_(log),
        rto_(settings) {
    settings_.rack = settings_.rack and settings_.sack;
  }

  // Opens the connection.
  void start() { state_ = State::syn_to_send; }
  // The other end has opened it; its handshake took `rtt_us`, -1 if that is not known.
  void accept(Microseconds rtt_us);
  // There is more to send.
  void offer(uint64_t segments) { end_ += segments; }
  // Sends nothing new from now on.
  void stop() { end_ = std::min(end_, next_); }

  struct Segment {
    uint64_t number;
    bool is_syn = false;
    bool is_retransmission = false;
    bool is_capable = false;   // of being marked: ECT
    bool has_reduced = false;  // CWR
  };
  // What may be sent now; it counts as sent.
  std::optional<Segment> send(Microseconds now_us);

  void acknowledged(const TcpAcknowledgment& ack, Microseconds now_us);

  // When to ask again what to send, for a controller that paces; never, if nothing waits.
  Microseconds held_back_until_us() const { return held_back_until_us_; }

  Microseconds timer_us() const {
    return settings_.rack ? std::min({timer_us_, reordering_us_, probe_us_}) : timer_us_;
  }
  void timer(Microseconds now_us);

  bool is_open() const { return state_ == State::established; }
  // Whether everything is acknowledged.
  bool is_done() const { return state_ == State::established and una_ >= end_; }

  double window() const { return controller_.window(); }
  // How often an RTT was measured, and the last one.
  uint64_t rtt_samples() const { return rtt_samples_; }
  Microseconds last_rtt_us() const { return last_rtt_us_; }
  uint64_t retransmissions() const { return retransmissions_; }
  uint64_t timeouts() const { return timeouts_; }
  // How often it began to repair a loss: by fast recovery, or by a retransmission timeout of data.
  uint64_t loss_events() const { return loss_events_; }
  bool is_recovering() const { return is_recovering_; }

 private:
  enum class State { closed, syn_to_send, syn_sent, established };

  // The state of a segment that is not acknowledged cumulatively.
  struct Sent {
    Microseconds sent_us;
    bool is_sacked = false;
    bool is_lost = false;
    bool is_retransmitted = false;
  };

  Sent& sent(uint64_t number) { return scoreboard_[number - una_]; }
  uint64_t window_packets() const;
  bool has_new() const { return next_ < end_ and next_ - una_ < peer_window_; }
  bool may_send_new() const;
  bool is_held_back(Microseconds now_us);
  void begin_probe();
  std::optional<Segment> send_doubtful(Microseconds now_us);
  Segment retransmit(uint64_t number, Microseconds now_us);
  // A segment, or its retransmission, leaves; and is newly reported.
  void depart(uint64_t number, Microseconds now_us);
  void arrive(uint64_t number, const Sent& segment, Microseconds now_us);
  // These return how many segments are newly reported.
  uint64_t take_cumulative(uint64_t next_expected, Microseconds now_us);
  uint64_t take_blocks(const TcpAcknowledgment& ack, Microseconds now_us);
  uint64_t sack(uint64_t begin, uint64_t end, Microseconds now_us);
  void mark_lost_below(uint64_t end);
  void mark_lost(uint64_t number);
  std::optional<uint64_t> first_lost();
  void find_losses(bool is_duplicate, Microseconds now_us);
  void find_losses_by_time(Microseconds now_us);
  bool is_out(uint64_t number, Microseconds sent_us);
  void hear_of_probe(const TcpAcknowledgment& ack, bool is_progress, Microseconds now_us);
  void enter_recovery(Microseconds now_us);
  bool is_repairing() const { return una_ < recovery_end_; }
  void reduce_in_proportion(uint64_t delivered, bool is_progress);
  void hear_of_mark(Microseconds now_us);
  void reduce(Loss::Kind kind, Microseconds now_us);
  void measure(const TcpAcknowledgment& ack, Microseconds now_us);
  void measure_by_sack(Microseconds now_us);
  void tell_controller(const TcpAcknowledgment& ack, uint64_t delivered, Microseconds now_us);
  void restart_timer(Microseconds now_us);
  void plan_probe(Microseconds now_us);
  void time_out(Microseconds now_us);

  static constexpr uint64_t duplicate_threshold_ = 3;
  static constexpr Microseconds longest_delayed_ack_us_ = 200'000;  // RFC 8985, section 7.2
  static constexpr uint64_t none_ = std::numeric_limits<uint64_t>::max();

  uint16_t flow_;
  ControllerHandle controller_;
  TcpSettings settings_;
  uint64_t end_;  // segments in all
  FlowLog* log_;
  RtoEstimate rto_;
  State state_ = State::closed;

  std::deque<Sent> scoreboard_{};          // from una_ to next_
  uint64_t una_ = 0;                       // the first that is not acknowledged
  uint64_t next_ = 0;                      // the next to be sent for the first time
  uint64_t in_flight_ = 0;                 // RFC 6675's pipe
  uint64_t sacked_ = 0;                    // segments above una_
  uint64_t highest_sacked_ = 0;            // the first number above all that is sacked
  Microseconds oldest_sacked_us_ = never;  // when that was sent which is newly sacked, sent once
  size_t last_block_count_ = 0;
  std::array<SackBlock, 3> last_blocks_{};
  uint64_t examined_ = 0;       // below it, losses are marked
  uint64_t segments_lost_ = 0;  // as found by acknowledgments
  uint64_t to_retransmit_ = 0;  // below it, all losses were retransmitted
  uint64_t peer_window_ = 1;

  Rack rack_{};
  struct Transmission {
    Microseconds sent_us;
    uint64_t number;
  };
  std::deque<Transmission> transmissions_{};  // in the order of time; some are no longer out
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>>
      lost_{};                          // or repeated since
  uint64_t fack_ = 0;                   // highest_sacked_ before the last acknowledgment
  Microseconds reordering_us_ = never;  // when what is late counts as lost
  Microseconds probe_us_ = never;       // when a probe of the tail is due
  bool must_probe_ = false;
  uint64_t probe_end_ = none_;  // next_ when the probe that is out was sent
  bool is_probe_new_ = false;   // whether it carries new data

  bool is_recovering_ = false;
  bool is_rescued_ = false;       // whether this recovery has sent the last segment again
  bool must_retransmit_ = false;  // the first of a recovery ignores the window
  uint64_t recovery_end_ = 0;
  struct Proportion {  // RFC 6937's variables, in packets
    uint64_t recover_fs = 0;
    uint64_t delivered = 0;
    uint64_t out = 0;
    uint64_t window = 0;
  } prr_{};
  uint64_t reduction_end_ = 0;  // with ECN: what was sent before the last reduction
  bool must_tell_reduction_ = false;
  uint64_t duplicates_ = 0;  // without SACK: acknowledgments that acknowledged nothing new

  Pacer pacer_{};
  Microseconds held_back_until_us_ = never;

  Microseconds syn_sent_us_ = 0;
  bool syn_was_repeated_ = false;
  Microseconds last_rtt_us_ = -1;
  uint64_t rtt_samples_ = 0;
  Microseconds timer_us_ = never;
  uint64_t retransmissions_ = 0;
  uint64_t timeouts_ = 0;
  uint64_t loss_events_ = 0;
};

}  // namespace kneepoint
