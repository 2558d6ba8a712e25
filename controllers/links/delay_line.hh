// A delay with the semantics of mahimahi's mm-delay; mm-delay's own delay is constant.
#pragma once

#include <algorithm>
#include <utility>

#include "links/delay_trace.hh"
#include "links/timed_packets.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Releases each packet a whole number of milliseconds after the millisecond of its arrival, but
// no packet before packets that arrived earlier.
class DelayLine {
 public:
  // The delays must be whole milliseconds.
  explicit DelayLine(DelayTrace delays) : delays_(std::move(delays)) {}

  void enqueue(const Packet& packet, Milliseconds now_ms) {
    if (steady_until_ms_ <= now_ms) [[unlikely]]
      change(now_ms);
    last_ms_ = std::max(last_ms_, now_ms + delay_ms_);
    underway_.push(last_ms_ * 1000, packet);
  }

  // Packets whose time has come are passed to deliver(packet), in order.
  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    underway_.release(now_ms * 1000, deliver);
  }

  Microseconds next_event_us() const { return underway_.next_us(); }

  static uint64_t packets_dropped() { return 0; }  // it has no bound

 private:
  [[gnu::noinline]] void change(Milliseconds now_ms) {
    delay_ms_ = whole_ms(delays_.at(now_ms * 1000));
    // A millisecond clock sees the next change from this millisecond on.
    const Microseconds changes_us = delays_.changes_us();
    steady_until_ms_ = changes_us / 1000 + (changes_us % 1000 > 0 ? 1 : 0);
  }

  DelayTrace delays_;
  Milliseconds delay_ms_ = 0;
  Milliseconds steady_until_ms_ = 0;  // packets until then have this delay
  Milliseconds last_ms_ = 0;          // when the last packet leaves
  TimedPackets underway_{};
};

}  // namespace kneepoint
