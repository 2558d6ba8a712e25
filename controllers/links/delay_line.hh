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
    decide(packet, now_ms * 1000, now_ms);
    releases_.see_arrival();
    advance(now_ms, deliver);
  }

  // Whether packets may be queued before they arrive: none goes on in the millisecond in which it
  // does.
  bool decides_on_arrival() const { return delay_ms_ > 0; }

  // The same for a packet that has yet to arrive, after all others.
  [[gnu::always_inline]] Packet& decide(const Packet& packet, Microseconds arrival_us,
                                        Milliseconds arrival_ms) {
    return releases_.push(packet, arrival_us, (arrival_ms + delay_ms_) * 1000);
  }

  Releases& releases() { return releases_; }

  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    releases_.release(now_ms * 1000, deliver);
  }

  Microseconds next_event_us() const { return releases_.next_us(); }

 private:
  Milliseconds delay_ms_;
  Releases releases_{};
};

}  // namespace kneepoint
