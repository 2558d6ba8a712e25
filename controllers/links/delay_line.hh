// A constant delay, with the semantics of mahimahi's mm-delay.
#pragma once

#include "links/releases.hh"
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
  bool delivers_at(Milliseconds now_ms) const {
    return next_event_ms() <= now_ms or delay_ms_ == 0;
  }

  // The same where nothing is delivered.
  [[gnu::always_inline]] void enqueue(const Packet& packet, Milliseconds now_ms) {
    waiting_.push(packet, now_ms + delay_ms_);
  }

  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    waiting_.release(now_ms, deliver);
  }

  Milliseconds next_event_ms() const { return waiting_.next_ms(); }

 private:
  Milliseconds delay_ms_;
  Releases waiting_{};
};

}  // namespace kneepoint
