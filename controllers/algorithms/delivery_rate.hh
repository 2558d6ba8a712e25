// The rate at which packets are delivered, and those that are lost, for each acknowledgment:
// draft-cheng-iccrg-delivery-rate-estimation-00, section 3; draft-ietf-ccwg-bbr, section 4.1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "algorithms/by_number.hh"
#include "algorithms/measures.hh"

namespace kneepoint {

// Of the packet that gives it.
struct RateSample {
  double packets_per_s;
  double delivered_before;  // packets, when it left
  double flight;            // packets, when it had left
  double lost;              // packets, since it left
  bool is_limited;          // as the sender was told to send less: it may be too low
};

class DeliveryRate {
 public:
  // A retransmission gives no sample of its own.
  void on_sent(uint64_t sequence_number, int64_t now_ms) {
    const double sent_s = static_cast<double>(now_ms) / 1e3;
    if (next_to_send_ == next_unacknowledged_) first_sent_s_ = delivered_s_ = sent_s;
    next_to_send_ = sequence_number + 1;
    sent_.at_new(sequence_number) = {sent_s,
                                     first_sent_s_,
                                     delivered_s_,
                                     delivered_,
                                     ++flight_,
                                     all_lost_,
                                     delivered_ < limited_until_};
  }

  // Timers tell of no lost packets.
  void on_loss(const Loss& loss) {
    has_timed_out_ = has_timed_out_ or loss.kind == Loss::Kind::timed_out;
  }

  // None where nothing new is acknowledged, or faster than any round trip allows (section 3.3).
  std::optional<RateSample> on_ack(const Ack& ack) {
    const double now = now_s(ack);
    delivered_ = static_cast<double>(ack.delivered);
    delivered_s_ = now;
    flight_ = static_cast<double>(ack.in_flight);
    hear_losses(ack);
    const bool is_new =
        ack.sequence_number >= next_unacknowledged_ and ack.sequence_number < next_to_send_;
    if (not is_new) return std::nullopt;
    next_unacknowledged_ = ack.sequence_number + 1;
    const Sent& sent = sent_.take(ack.sequence_number);
    first_sent_s_ = sent.sent_s;
    if (measures_rtt(ack)) {
      // Senders say when in whole milliseconds; the RTT says it better.
      first_sent_s_ = now - rtt_s(ack);
      least_rtt_s_ = std::min(least_rtt_s_, rtt_s(ack));
    }
    const double interval_s = std::max(first_sent_s_ - sent.first_sent_s, now - sent.delivered_s);
    const bool is_possible = least_rtt_s_ == infinity or interval_s >= least_rtt_s_ - tick_s_;
    if (interval_s <= 0 or not is_possible) return std::nullopt;
    return RateSample{(delivered_ - sent.delivered) / interval_s, sent.delivered, sent.flight,
                      all_lost_ - sent.lost, sent.is_limited};
  }

  double delivered() const { return delivered_; }  // packets
  double flight() const { return flight_; }        // packets
  // Packets of whose loss the last acknowledgment was the first to tell.
  double lost() const { return lost_; }

  // What is sent from now on, until what is in flight has been delivered, gives limited samples.
  void limit() { limited_until_ = delivered_ + flight_; }

 private:
  struct Sent {
    double sent_s;
    double first_sent_s;  // of the packet that was newly acknowledged when this one left
    double delivered_s;
    double delivered;
    double flight;
    double lost;
    bool is_limited;
  };

  void hear_losses(const Ack& ack) {
    // An acknowledgment out of order corrects what one before it told.
    const uint64_t before = std::exchange(told_, ack.lost);
    const bool has_timed_out = std::exchange(has_timed_out_, false);
    lost_ = has_timed_out or ack.lost < before ? 0 : static_cast<double>(ack.lost - before);
    all_lost_ += lost_;
  }

  static constexpr double tick_s_ = 1e-3;  // of datagrams' clocks
  ByNumber<Sent> sent_{};
  uint64_t next_unacknowledged_ = 0;
  uint64_t next_to_send_ = 0;
  double first_sent_s_ = 0;
  double delivered_s_ = 0;
  double delivered_ = 0;
  double flight_ = 0;
  double limited_until_ = 0;
  double least_rtt_s_ = infinity;
  uint64_t told_ = 0;
  bool has_timed_out_ = false;
  double lost_ = 0;
  double all_lost_ = 0;
};

// Round trips: one ends with the delivery of what left after it had begun.
class DeliveryRounds {
 public:
  // Whether a round ends, and the next begins, with it.
  bool ends(const RateSample& sample, const DeliveryRate& delivery) {
    if (sample.delivered_before < next_) return false;
    begin(delivery);
    return true;
  }
  void begin(const DeliveryRate& delivery) { next_ = delivery.delivered(); }

 private:
  double next_ = 0;  // packets delivered before those of the next round
};

}  // namespace kneepoint
