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
    const Milliseconds release_ms = now_ms + delay_ms_;
    Packet& queued = waiting_.push();
    queued = packet;
    queued.queued_us = release_ms;
    if (next_event_ms_ == never) next_event_ms_ = release_ms;
    advance(now_ms, deliver);
  }

  template <class Deliver>
  void advance(Milliseconds now_ms, Deliver deliver) {
    while (next_event_ms_ <= now_ms) {
      const Packet& packet = waiting_.pop();
      next_event_ms_ = waiting_.empty() ? never : waiting_.front().queued_us;
      deliver(packet);
    }
  }

  Milliseconds next_event_ms() const { return next_event_ms_; }

 private:
  Milliseconds delay_ms_;
  Milliseconds next_event_ms_ = never;
  Ring<Packet> waiting_{};  // each with its release in place of its arrival, in ms
};

}  // namespace kneepoint
