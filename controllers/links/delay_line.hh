// A delay, with the semantics of mahimahi's mm-delay, whose own is constant.
#pragma once

#include <algorithm>
#include <utility>

#include "links/delay_trace.hh"
#include "links/releases.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Releases each packet a whole number of milliseconds after the millisecond of its arrival, but
// none before those that arrived earlier.
class DelayLine {
 public:
  // The delays are of whole milliseconds.
  explicit DelayLine(DelayTrace delays)
      : delays_(std::move(delays)),
        decides_on_arrival_(delays_.at(0) > 0 and delays_.changes_us() >= beyond_us) {}

  // Packets whose time has come are passed to deliver(packet), in order.
  template <class Deliver>
  void enqueue(const Packet& packet, Milliseconds now_ms, const Deliver& deliver) {
    decide(packet, now_ms * 1000, now_ms);
    releases_.see_arrival();
    advance(now_ms, deliver);
  }

  // Whether packets may be queued before they arrive: none goes on in the millisecond in which it
  // does.
  bool decides_on_arrival() const { return decides_on_arrival_; }

  // The same for a packet that has yet to arrive, after all others.
  [[gnu::always_inline]] Packet& decide(const Packet& packet, Microseconds arrival_us,
                                        Milliseconds arrival_ms) {
    if (steady_until_ms_ <= arrival_ms) [[unlikely]]
      change(arrival_ms);
    last_ms_ = std::max(last_ms_, arrival_ms + delay_ms_);
    return releases_.push(packet, arrival_us, last_ms_ * 1000);
  }

  Releases& releases() { return releases_; }

  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    releases_.release(now_ms * 1000, deliver);
  }

  Microseconds next_event_us() const { return releases_.next_us(); }

  static uint64_t packets_dropped() { return 0; }  // it has no bound

 private:
  [[gnu::noinline]] void change(Milliseconds now_ms) {
    delay_ms_ = whole_ms(delays_.at(now_ms * 1000));
    // From this millisecond on a clock of milliseconds sees the next change.
    const Microseconds changes_us = delays_.changes_us();
    steady_until_ms_ = changes_us / 1000 + (changes_us % 1000 > 0 ? 1 : 0);
  }

  DelayTrace delays_;
  bool decides_on_arrival_;
  Milliseconds delay_ms_ = 0;
  Milliseconds steady_until_ms_ = 0;  // packets until then have this delay
  Milliseconds last_ms_ = 0;          // when the last packet goes on
  Releases releases_{};
};

}  // namespace kneepoint
