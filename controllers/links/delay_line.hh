// A constant delay, with the semantics of mahimahi's mm-delay.
#pragma once

#include <algorithm>

#include "common/ring.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Releases each packet a whole number of milliseconds after the millisecond of its arrival.
class DelayLine {
 public:
  explicit DelayLine(Milliseconds delay_ms) : delay_ms_(delay_ms) {}

  // Packets whose time has come are passed to deliver(packet), in order.
  template <class Deliver>
  void enqueue(const Packet& packet, Milliseconds now_ms, const Deliver& deliver) {
    enqueue(packet, now_ms);
    advance(now_ms, deliver);
  }

  // Whether a packet that is queued now has itself or others delivered.
  bool delivers_at(Milliseconds now_ms) const { return next_event_ms_ <= now_ms or delay_ms_ == 0; }

  // The same where nothing is delivered.
  [[gnu::always_inline]] void enqueue(const Packet& packet, Milliseconds now_ms) {
    Packet& queued = waiting_.push();
    queued = packet;
    queued.queued_us = now_ms + delay_ms_;
    next_event_ms_ = std::min(next_event_ms_, now_ms + delay_ms_);
  }

  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    while (next_event_ms_ <= now_ms) {
      const Packet& packet = waiting_.pop();
      next_event_ms_ = waiting_.empty() ? never_ms : waiting_.front().queued_us;
      deliver(packet);
    }
  }

  Milliseconds next_event_ms() const { return next_event_ms_; }

 private:
  Milliseconds delay_ms_;
  Milliseconds next_event_ms_ = never_ms;
  Ring<Packet> waiting_{};  // each with its release in place of its arrival, in ms
};

}  // namespace kneepoint
