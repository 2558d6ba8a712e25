// The rate at which packets are delivered, for each acknowledgment:
// draft-cheng-iccrg-delivery-rate-estimation-00, section 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "algorithms/by_number.hh"
#include "algorithms/measures.hh"

namespace kneepoint {

struct RateSample {
  double packets_per_s;
  double delivered_before;  // packets, when the one that gives the sample left
  bool is_limited;          // as the sender was told to send less: it may be too low
};

class DeliveryRate {
 public:
  // A retransmission gives no sample of its own.
  void on_sent(uint64_t sequence_number, int64_t now_ms) {
    const double sent_s = static_cast<double>(now_ms) / 1e3;
    if (next_to_send_ == next_unacknowledged_) first_sent_s_ = delivered_s_ = sent_s;
    next_to_send_ = sequence_number + 1;
    sent_.at_new(sequence_number) = {sent_s, first_sent_s_, delivered_s_, delivered_,
                                     delivered_ < limited_until_};
  }

  // None where nothing new is acknowledged, or faster than any round trip allows (section 3.3).
  std::optional<RateSample> on_ack(const Ack& ack) {
    const double now = now_s(ack);
    delivered_ = static_cast<double>(ack.delivered);
    delivered_s_ = now;
    const bool is_new =
        ack.sequence_number >= next_unacknowledged_ and ack.sequence_number < next_to_send_;
    if (not is_new) return std::nullopt;
    next_unacknowledged_ = ack.sequence_number + 1;
    const Sent sent = sent_.take(ack.sequence_number);
    first_sent_s_ = sent.sent_s;
    if (measures_rtt(ack)) {
      // Senders say when in whole milliseconds; the RTT says it better.
      first_sent_s_ = now - rtt_s(ack);
      least_rtt_s_ = std::min(least_rtt_s_, rtt_s(ack));
    }
    const double interval_s = std::max(first_sent_s_ - sent.first_sent_s, now - sent.delivered_s);
    const bool is_possible = least_rtt_s_ == never_ or interval_s >= least_rtt_s_ - tick_s_;
    if (interval_s <= 0 or not is_possible) return std::nullopt;
    return RateSample{(delivered_ - sent.delivered) / interval_s, sent.delivered, sent.is_limited};
  }

  double delivered() const { return delivered_; }  // packets

  // What is sent from now on, until what is in flight has been delivered, gives limited samples.
  void limit(double flight) { limited_until_ = delivered_ + flight; }

 private:
  struct Sent {
    double sent_s;
    double first_sent_s;  // of the packet that was newly acknowledged when this one left
    double delivered_s;
    double delivered;
    bool is_limited;
  };

  static constexpr double tick_s_ = 1e-3;  // of datagrams' clocks
  static constexpr double never_ = std::numeric_limits<double>::infinity();

  ByNumber<Sent> sent_{};
  uint64_t next_unacknowledged_ = 0;
  uint64_t next_to_send_ = 0;
  double first_sent_s_ = 0;
  double delivered_s_ = 0;
  double delivered_ = 0;
  double limited_until_ = 0;
  double least_rtt_s_ = never_;
};

}  // namespace kneepoint
