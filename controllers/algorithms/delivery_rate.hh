// The rate at which packets are delivered, and those that are lost, for each acknowledgment:
// draft-cheng-iccrg-delivery-rate-estimation-00, section 3; draft-ietf-ccwg-bbr, section 4.1, whose
// names it has. Volumes are in packets.
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

// Of the newest packet that an acknowledgment delivers (RS); as made, of none.
struct RateSample {
  double delivery_rate = 0;     // packets/s; 0 where the interval is shorter than any round trip
  double delivered = 0;         // since it left
  double prior_delivered = -1;  // when it left
  double tx_in_flight = 0;      // when it had left
  double lost = 0;              // since it left
  bool is_app_limited = false;  // as the sender sent less than it might: the rate may be too low
};

// A packet that is newly known to be lost, as HandleLostPacket wants it (section 5.5.10.2).
struct LostPacket {
  double tx_in_flight;  // when it had left
  double lost;          // since it left, with it
  bool is_app_limited;
  bool begins_range;  // the packet before it was not lost
};

class DeliveryRate {
 public:
  // A retransmission gives no sample of its own. Senders tell whole milliseconds; what leaves
  // leaves no earlier than the last acknowledgment came.
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

  // Timers tell of no lost packets: those are not newly lost with the next acknowledgment.
  void on_loss(const Loss& loss) {
    has_timed_out_ = has_timed_out_ or loss.kind == Loss::Kind::timed_out;
  }

  // None where it delivers nothing but what was sent again.
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
    const bool is_plain = is_new and missing_.empty() and ack.lost == told_ and
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
  // Before the last acknowledgment.
  double prior_in_flight() const { return prior_in_flight_; }
  // Packets of whose loss the last acknowledgment was the first to tell, timers aside.
  double newly_lost() const { return newly_lost_; }
  // All of whose loss was not known before the last acknowledgment. A transport says how many they
  // are, not which: the oldest of which nothing was heard.
  const std::vector<LostPacket>& lost_packets() const { return lost_packets_; }

  // What is sent from now on, until more than what is in flight has been delivered, gives limited
  // samples.
  void mark_connection_app_limited() { app_limited_ = delivered_ + in_flight_; }

 private:
  struct Sent {
    double send_time;
    double first_send_time;  // of the packet that was newly acknowledged when this one left
    double delivered_time;
    double delivered;
    double tx_in_flight;
    double lost;
    bool is_app_limited;
  };

  void hear_losses(const Ack& ack, bool is_new) {
    // An acknowledgment out of order corrects what one before it told.
    const uint64_t told = std::exchange(told_, ack.lost);
    const uint64_t newly_lost = std::min(ack.lost - std::min(told, ack.lost), next_to_send_);
    newly_lost_ = std::exchange(has_timed_out_, false) ? 0 : static_cast<double>(newly_lost);
    find_missing(ack, is_new);
    for (uint64_t i = 0; i < newly_lost; ++i) lose_one();
    // What is sent above it is in flight, and of the rest at most the missing: others were
    // delivered together with what an acknowledgment named.
    const uint64_t above = is_new ? ack.sequence_number + 1 : next_unacknowledged_;
    const uint64_t most = ack.in_flight - std::min(next_to_send_ - above, ack.in_flight);
    while (missing_.size() > most) missing_.pop_front();
  }

  // What an acknowledgment passes without delivering it comes before what it delivers.
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
  std::deque<uint64_t> missing_{};  // below that, neither delivered nor known to be lost
  std::vector<LostPacket> lost_packets_{};
  uint64_t last_lost_ = UINT64_MAX - 1;
  double first_send_time_ = 0;  // s
  double delivered_time_ = 0;   // s
  double delivered_ = 0;
  double in_flight_ = 0;
  double prior_in_flight_ = 0;
  double app_limited_ = -1;
  double min_rtt_ = infinity;  // s
  uint64_t told_ = 0;
  bool has_timed_out_ = false;
  double newly_lost_ = 0;
  double lost_ = 0;
};

// Packet-timed round trips (section 5.5.1): one ends with the delivery of what left after it had
// begun.
class DeliveryRounds {
 public:
  // Whether a round ends, and the next begins, with it (UpdateRound).
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
