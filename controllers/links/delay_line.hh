// A constant delay, with the semantics of mahimahi's mm-delay.
#pragma once

#include "common/ring.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Releases each packet a whole number of milliseconds after the millisecond of its arrival.
class DelayLine {
 public:
  explicit DelayLine(Milliseconds delay_ms) : delay_ms_(delay_ms) {}

  // Packets whose time has come are passed to deliver(packet), in order.
  template <class Deliver>
  void enqueue(const Packet& packet, Milliseconds now_ms, Deliver deliver) {
    Packet& queued = waiting_.push();
    queued = packet;
    queued.queued_us = now_ms * 1000;
    advance(now_ms, deliver);
  }

  template <class Deliver>
  void advance(Milliseconds now_ms, Deliver deliver) {
    while (next_event_ms() <= now_ms) deliver(waiting_.pop());
  }

  Milliseconds next_event_ms() const {
    return waiting_.empty() ? never : whole_ms(waiting_.front().queued_us) + delay_ms_;
  }

 private:
  Milliseconds delay_ms_;
  Ring<Packet> waiting_{};
};

}  // namespace kneepoint
