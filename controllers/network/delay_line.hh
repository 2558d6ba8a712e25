// A constant delay, with the semantics of mahimahi's mm-delay.
#pragma once

#include "network/packet.hh"
#include "network/ring.hh"

namespace kneepoint {

// Releases each packet a whole number of milliseconds after the millisecond of its arrival.
class DelayLine {
 public:
  explicit DelayLine(Milliseconds delay_ms) : delay_ms_(delay_ms) {}

  void enqueue(Packet packet, Milliseconds now_ms) {
    packet.queued_ms = now_ms;
    waiting_.push(packet);
    advance(now_ms);
  }

  void advance(Milliseconds now_ms) {
    while (next_event_ms() <= now_ms) delivered_.push(waiting_.pop());
  }

  Milliseconds next_event_ms() const {
    return waiting_.empty() ? never : waiting_.front().queued_ms + delay_ms_;
  }

  Ring<Packet>& delivered() { return delivered_; }

 private:
  Milliseconds delay_ms_;
  Ring<Packet> waiting_{};
  Ring<Packet> delivered_{};
};

}  // namespace kneepoint
