// The parts that both versions of BBR share: draft-cardwell-iccrg-bbr-congestion-control-00,
// section 4, and draft-ietf-ccwg-bbr, section 5, with the drafts' names. Rates are in packets/s,
// volumes in packets, times in seconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/delivery_rate.hh"
#include "algorithms/parameters.hh"

namespace kneepoint {

inline double cwnd_gain(Parameters& parameters) {
  return parameters.real("cwnd_gain", 2, {.low = 1, .high = 3, .min = 0.5}, "1",
                         "window, in bandwidth-delay products");
}

// BBRMinPipeCwnd, BBR.MinPipeCwnd.
inline constexpr double min_pipe_cwnd = 4;
// The payload of a TCP segment: the drafts count rates, and the 64 KB of a send quantum, in bytes
// of payload.
inline constexpr double smss_bits = 1448 * 8;

// The RTT that an acknowledgment measures; an RTT of 0, below the tick of the datagrams' clock,
// counts as one tick.
inline double effective_rtt_s(const Ack& ack) { return ack.rtt_us > 0 ? rtt_s(ack) : 1e-3; }

// The pacing rate, and the time between packets. The rate has a floor, as in Linux, whose unit of
// rates is a packet in 2^24 us.
class PacingRate {
 public:
  // InitPacingRate: until an RTT is known, a millisecond stands for it.
  PacingRate(double gain, double initial_cwnd) : nominal_(gain * initial_cwnd) {
    set(nominal_ / 1e-3);
  }

  // Sets the rate by the first RTT. Returns whether this was the first.
  bool init(double srtt) {
    if (nominal_ <= 0) return false;
    set(nominal_ / srtt);
    nominal_ = 0;
    return true;
  }
  void set(double rate) {
    rate_ = std::max(rate, min_);
    gap_us_ = 1e6 / rate_;
  }

  double rate() const { return rate_; }
  double gap_us() const { return gap_us_; }

 private:
  static constexpr double min_ = 1e6 / (1 << 24);
  double nominal_;  // packets per RTT; 0 once the RTT is known
  double rate_ = 0;
  double gap_us_ = 0;
};

// Whether a sender has been idle (sections 4.3.1.3 and 5.4.1). Controllers receive no information
// about the application: a packet that leaves later than pacing requires, with no packet in flight,
// has waited for the application.
class IdleRestart {
 public:
  // Called before a packet leaves; returns whether the packet ends an idle period. If so, rate
  // samples are app-limited until this packet is delivered.
  bool ends(double now, DeliveryRate& delivery) const {
    if (delivery.in_flight() > 0 or now <= next_send_time_ + lateness_) return false;
    delivery.mark_connection_app_limited();
    return true;
  }
  void sent(int64_t now_ms, double gap_us) {
    next_send_time_ = (static_cast<double>(now_ms) * 1e3 + gap_us) / 1e6;
  }

 private:
  static constexpr double lateness_ = 0.002;  // s, of millisecond clocks and of timers
  double next_send_time_ = infinity;
};

// Whether the pipe is full: three rounds in which the delivery rate grew too little (sections
// 4.3.2.2 and 5.3.1.2).
class FullBw {
 public:
  // Called at the end of a round that was not app-limited.
  void check(double delivery_rate, double growth) {
    if (now) return;
    if (delivery_rate >= growth * full_bw_) {
      reset(delivery_rate);
    } else if (++count_ >= 3) {
      now = reached = true;
    }
  }
  void reset(double delivery_rate = 0) {
    full_bw_ = delivery_rate;
    count_ = 0;
    now = false;
  }

  bool reached = false;  // ever
  bool now = false;      // since the last reset

 private:
  double full_bw_ = 0;
  int count_ = 0;
};

// Whether the sender is in loss recovery: as long as the transport reports it or, on a transport
// without such reports, until a packet sent after the detection of the last loss is acknowledged
// (RFC 9002, section 7.3.2).
class LossRecovery {
 public:
  void begin(const DeliveryRate& delivery) {
    end_ = delivery.next_to_send();
    if (not is_on_) first_round_end_ = end_;
    is_on_ = true;
    was_told_ = false;
  }
  // Returns whether recovery ends with this acknowledgment.
  bool ends(const Ack& ack) {
    if (not is_on_) return false;
    was_told_ = was_told_ or ack.is_recovering;
    is_on_ = ack.is_recovering or (not was_told_ and ack.sequence_number < end_);
    return not is_on_;
  }
  void undo() { is_on_ = false; }

  bool is_on() const { return is_on_; }
  bool has_lasted_a_round(const Ack& ack) const {
    return is_on_ and ack.sequence_number >= first_round_end_;
  }

 private:
  bool is_on_ = false;
  bool was_told_ = false;
  uint64_t end_ = 0;
  uint64_t first_round_end_ = 0;
};

// The last window before a recovery or ProbeRTT reduced it (sections 4.2.3.4 and 5.6.4.4).
class PriorCwnd {
 public:
  void save(double cwnd, bool is_reduced) { cwnd_ = is_reduced ? std::max(cwnd_, cwnd) : cwnd; }
  double restored(double cwnd) const { return std::max(cwnd_, cwnd); }

 private:
  double cwnd_ = 0;
};

// ProbeRTT: few packets in flight, for at least `duration_` and a round trip, so that the queue
// drains and the minimum RTT can be measured (sections 4.3.5 and 5.3.4.3).
class ProbeRtt {
 public:
  ProbeRtt(Parameters& parameters, const std::string& meaning)
      : duration_(parameters.real("probe_rtt_ms", 200, {.low = 50, .high = 500, .min = 1}, "ms",
                                  meaning) /
                  1000) {}

  void begin() { done_stamp_.reset(); }

  // HandleProbeRTT, at each acknowledgment. Returns whether ProbeRTT is over.
  bool handle(double now, double cwnd, bool round_start, DeliveryRate& delivery,
              DeliveryRounds& rounds) {
    delivery.mark_connection_app_limited();
    if (done_stamp_) {
      round_done_ = round_done_ or round_start;
      return round_done_ and is_done(now);
    }
    if (delivery.in_flight() > cwnd) return false;
    done_stamp_ = now + duration_;
    round_done_ = false;
    rounds.start_round(delivery);
    return false;
  }
  bool is_done(double now) const { return done_stamp_ and now > *done_stamp_; }

 private:
  double duration_;
  std::optional<double> done_stamp_{};
  bool round_done_ = false;
};

}  // namespace kneepoint
