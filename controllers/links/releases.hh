// Packets that each go on in a millisecond that is known beforehand.
#pragma once

#include <algorithm>

#include "common/block_queue.hh"
#include "transport/packet.hh"

namespace kneepoint {

class Releases {
 public:
  // They come in the order of their releases.
  [[gnu::always_inline]] void push(const Packet& packet, Milliseconds release_ms) {
    Packet& queued = waiting_.push();
    queued = packet;
    queued.queued_us = release_ms;
    next_ms_ = std::min(next_ms_, release_ms);
  }

  // Passes all up to and including now to deliver(packet), in order.
  template <class Deliver>
  [[gnu::always_inline]] void release(Milliseconds now_ms, const Deliver& deliver) {
    while (next_ms_ <= now_ms) {
      const Packet& packet = waiting_.pop();
      next_ms_ = waiting_.empty() ? never_ms : waiting_.front().queued_us;
      deliver(packet);
    }
  }

  // The next one is not known yet, but when it comes is; never_ms: none comes.
  void expect(Milliseconds release_ms) { next_ms_ = release_ms; }

  // When the last of them goes on; 0 without any.
  Milliseconds last_ms() const { return waiting_.empty() ? 0 : waiting_.back().queued_us; }

  // When the next one comes; never_ms without any.
  Milliseconds next_ms() const { return next_ms_; }

 private:
  Milliseconds next_ms_ = never_ms;
  BlockQueue<Packet> waiting_{};  // each with its release in place of its arrival, in ms
};

}  // namespace kneepoint
