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
  explicit DelayLine(DelayTrace delays) : delays_(std::move(delays)) {}

  // Packets whose time has come are passed to deliver(packet), in order.
  template <class Deliver>
  void enqueue(const Packet& packet, Milliseconds now_ms, const Deliver& deliver) {
    waiting_.push(packet, now_ms < steady_until_ms_ ? now_ms + delay_ms_ : release_ms(now_ms));
    advance(now_ms, deliver);
  }

  // Whether a packet that is queued now has itself or others delivered, or may have another delay
  // than the one before it.
  bool delivers_at(Milliseconds now_ms) const {
    return next_event_ms() <= now_ms or steady_until_ms_ <= now_ms;
  }

  // The same where neither is so.
  [[gnu::always_inline]] void enqueue(const Packet& packet, Milliseconds now_ms) {
    waiting_.push(packet, now_ms + delay_ms_);
  }

  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    waiting_.release(now_ms, deliver);
  }

  Milliseconds next_event_ms() const { return waiting_.next_ms(); }

 private:
  [[gnu::noinline]] Milliseconds release_ms(Milliseconds now_ms) {
    delay_ms_ = whole_ms(delays_.at(now_ms * 1000));
    const Milliseconds due_ms = now_ms + delay_ms_;
    const Milliseconds after_all_ms = std::max(due_ms, waiting_.last_ms());
    const bool is_steady = due_ms > now_ms and due_ms == after_all_ms;
    steady_until_ms_ = is_steady ? std::min(never_ms, first_ms(delays_.changes_us())) : now_ms;
    return after_all_ms;
  }

  // From which millisecond on a clock of milliseconds sees a change.
  static Milliseconds first_ms(Microseconds time_us) {
    return time_us / 1000 + (time_us % 1000 > 0 ? 1 : 0);
  }

  DelayTrace delays_;
  Milliseconds delay_ms_ = 0;
  Milliseconds steady_until_ms_ = 0;  // packets until then have this delay
  Releases waiting_{};
};

}  // namespace kneepoint
