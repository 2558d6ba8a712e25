// The delivery rate and the lost packets at each acknowledgment, with the names of
// draft-cheng-iccrg-delivery-rate-estimation-00, section 3, and draft-ietf-ccwg-bbr, section 4.1.
// Volumes are in packets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/by_number.hh"
#include "algorithms/measures.hh"

namespace kneepoint {

// The rate sample (RS) of the newest packet that an acknowledgment delivers; by default, of no
// packet.
struct RateSample {
  double delivery_rate = 0;     // packets/s; 0 where the interval is shorter than any round trip
  double delivered = 0;         // since the packet was sent
  double prior_delivered = -1;  // when the packet was sent
  double tx_in_flight = 0;      // just after the packet was sent
  double lost = 0;              // since the packet was sent
  bool is_app_limited = false;  // less was sent than allowed: the rate may be too low
};

// A packet that is newly known to be lost, with the inputs of HandleLostPacket (section 5.5.10.2).
struct LostPacket {
  double tx_in_flight;  // just after the packet was sent
  double lost;          // since the packet was sent, itself included
  bool is_app_limited;
  bool begins_range;  // the packet before it was not lost
};

class DeliveryRate {
 public:
  // A retransmission gives no sample of its own. Senders report whole milliseconds, so that the
  // time of sending may have to be raised to the time of the last acknowledgment.
  void on_sent(uint64_t sequence_number, int64_t now_ms) {
    const double send_time = std::max(static_cast<double>(now_ms) / 1e3, delivered_time_);
    if (in_flight_ <= 0) first_send_time_ = delivered_time_ = send_time;
    next_to_send_ = sequence_number + 1;
    sent_.at_new(sequence_number) = {.send_time = send_time,
                                     .first_send_time = first_send_time_,
                                     .delivered_time = delivered_time_,
                                     .delivered = delivered_,
                                     .tx_in_flight = ++in_flight_,
                                     .lost = lost_,
                                     .is_app_limited = delivered_ <= app_limited_};
  }

  // A timeout names no packets: the losses that it finds are not newly lost with the next
  // acknowledgment.
  void on_loss(const Loss& loss) {
    has_timed_out_ = has_timed_out_ or loss.kind == Loss::Kind::timed_out;
  }

  // No sample if the acknowledgment delivers no packet beyond those acknowledged before, but only a
  // retransmission, for example.
  std::optional<RateSample> on_ack(const Ack& ack) {
    const double now = now_s(ack);
    const auto delivered = static_cast<double>(ack.delivered);
    if (delivered != delivered_) delivered_time_ = now;
    delivered_ = delivered;
    in_flight_ = static_cast<double>(ack.in_flight);
    const bool is_new =
        ack.sequence_number >= next_unacknowledged_ and ack.sequence_number < next_to_send_;
    newly_lost_ = 0;
    lost_packets_.clear();
    const bool is_plain = is_new and missing_.empty() and ack.lost == reported_lost_ and
                          not has_timed_out_ and
                          ack.sequence_number + 1 == next_unacknowledged_ + ack.acknowledged;
    if (not is_plain) hear_losses(ack, is_new);
    prior_in_flight_ = in_flight_ + static_cast<double>(ack.acknowledged) + newly_lost_;
    if (not is_new) return std::nullopt;
    next_unacknowledged_ = ack.sequence_number + 1;
    const Sent& sent = sent_.at(ack.sequence_number);
    sent_.forget_before(missing_.empty() ? next_unacknowledged_ : missing_.front());
    first_send_time_ = sent.send_time;
    if (measures_rtt(ack)) {
      first_send_time_ = now - rtt_s(ack);
      min_rtt_ = std::min(min_rtt_, rtt_s(ack));
    }
    const double send_elapsed = first_send_time_ - sent.first_send_time;
    const double ack_elapsed = now - sent.delivered_time;
    const double interval = std::max(send_elapsed, ack_elapsed);
    const bool is_reliable =
        interval > 0 and (min_rtt_ == infinity or interval >= min_rtt_ - tick_s_);
    const double since = delivered_ - sent.delivered;
    return RateSample{.delivery_rate = is_reliable ? since / interval : 0,
                      .delivered = since,
                      .prior_delivered = sent.delivered,
                      .tx_in_flight = sent.tx_in_flight,
                      .lost = lost_ - sent.lost,
                      .is_app_limited = sent.is_app_limited};
  }

  uint64_t next_to_send() const { return next_to_send_; }
  double delivered() const { return delivered_; }
  double in_flight() const { return in_flight_; }
  // The packets in flight before the last acknowledgment.
  double prior_in_flight() const { return prior_in_flight_; }
  // The number of packets that the last acknowledgment newly reports lost, without losses found by
  // a timeout.
  double newly_lost() const { return newly_lost_; }
  // All packets newly known to be lost at the last acknowledgment, losses found by a timeout
  // included. A transport reports how many packets are lost, not which: the oldest packets without
  // an acknowledgment are taken.
  const std::vector<LostPacket>& lost_packets() const { return lost_packets_; }

  // Packets sent from now on give app-limited samples, until more packets have been delivered than
  // are in flight now.
  void mark_connection_app_limited() { app_limited_ = delivered_ + in_flight_; }

 private:
  struct Sent {
    double send_time;
    double first_send_time;  // of the last packet acknowledged when this packet was sent
    double delivered_time;
    double delivered;
    double tx_in_flight;
    double lost;
    bool is_app_limited;
  };

  void hear_losses(const Ack& ack, bool is_new) {
    // A reordered acknowledgment corrects the count of an earlier acknowledgment.
    const uint64_t told = std::exchange(reported_lost_, ack.lost);
    const uint64_t newly_lost = std::min(ack.lost - std::min(told, ack.lost), next_to_send_);
    newly_lost_ = std::exchange(has_timed_out_, false) ? 0 : static_cast<double>(newly_lost);
    find_missing(ack, is_new);
    for (uint64_t i = 0; i < newly_lost; ++i) lose_one();
    // All packets sent after the acknowledged packet are in flight; of the earlier packets, no more
    // can be missing than the remaining number in flight. Acknowledgments that name one packet have
    // delivered others with it.
    const uint64_t above = is_new ? ack.sequence_number + 1 : next_unacknowledged_;
    const uint64_t max = ack.in_flight - std::min(next_to_send_ - above, ack.in_flight);
    while (missing_.size() > max) missing_.pop_front();
  }

  // The packets that an acknowledgment skips are taken to precede the packets that it delivers.
  void find_missing(const Ack& ack, bool is_new) {
    if (is_new) {
      const uint64_t passed = ack.sequence_number + 1 - next_unacknowledged_;
      const uint64_t skipped = passed - std::min(passed, ack.acknowledged);
      for (uint64_t i = 0; i < skipped; ++i) missing_.push_back(next_unacknowledged_ + i);
    } else if (const auto late = std::ranges::find(missing_, ack.sequence_number);
               late != missing_.end()) {
      missing_.erase(late);
    }
  }

  void lose_one() {
    ++lost_;
    uint64_t number = next_unacknowledged_;
    if (not missing_.empty()) {
      number = missing_.front();
      missing_.pop_front();
    } else {
      if (last_lost_ >= number and last_lost_ < next_to_send_) number = last_lost_ + 1;
      if (number >= next_to_send_) return;
    }
    const Sent& sent = sent_.at(number);
    lost_packets_.push_back({.tx_in_flight = sent.tx_in_flight,
                             .lost = lost_ - sent.lost,
                             .is_app_limited = sent.is_app_limited,
                             .begins_range = number != last_lost_ + 1});
    last_lost_ = number;
  }

  static constexpr double tick_s_ = 1e-3;  // of datagrams' clocks
  ByNumber<Sent> sent_{};
  uint64_t next_unacknowledged_ = 0;
  uint64_t next_to_send_ = 0;
  // Packets below next_unacknowledged_, neither delivered nor known to be lost.
  std::deque<uint64_t> missing_{};
  std::vector<LostPacket> lost_packets_{};
  uint64_t last_lost_ = UINT64_MAX - 1;
  double first_send_time_ = 0;  // s
  double delivered_time_ = 0;   // s
  double delivered_ = 0;
  double in_flight_ = 0;
  double prior_in_flight_ = 0;
  double app_limited_ = -1;
  double min_rtt_ = infinity;  // s
  uint64_t reported_lost_ = 0;
  bool has_timed_out_ = false;
  double newly_lost_ = 0;
  double lost_ = 0;
};

// Packet-timed round trips (section 5.5.1): a round ends with the delivery of a packet sent after
// the round began.
class DeliveryRounds {
 public:
  // UpdateRound. Returns whether the sample ends a round and begins the next.
  bool update_round(const RateSample& rs, const DeliveryRate& delivery) {
    if (rs.prior_delivered < next_round_delivered_) return false;
    start_round(delivery);
    return true;
  }
  void start_round(const DeliveryRate& delivery) { next_round_delivered_ = delivery.delivered(); }

 private:
  double next_round_delivered_ = 0;
};

}  // namespace kneepoint
