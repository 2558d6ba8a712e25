// Packets on their way, each with the time of its next event.
#pragma once

#include <algorithm>

#include "common/block_queue.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Packets that are about to arrive at a process or to leave a queue, in the order of these times.
class TimedPackets {
 public:
  void push(Microseconds time_us, const Packet& packet) {
    Item& item = items_.push();
    item.time_us = time_us;
    item.packet = packet;
    next_us_ = std::min(next_us_, time_us);
  }
  // The packet is valid until the next push.
  const Packet& pop() {
    const Packet& packet = items_.pop().packet;
    next_us_ = items_.empty() ? beyond_us : items_.front().time_us;
    return packet;
  }
  // The time of the first packet; beyond_us if there is none.
  Microseconds next_us() const { return next_us_; }
  bool empty() const { return items_.empty(); }

  // Passes all packets up to and including now to deliver(packet), which must not push.
  template <class Deliver>
  [[gnu::always_inline]] void release(Microseconds now_us, const Deliver& deliver) {
    while (next_us_ <= now_us) deliver(pop());
  }

 private:
  struct Item {
    Microseconds time_us = 0;
    Packet packet{};
  };

  BlockQueue<Item> items_{};
  Microseconds next_us_ = beyond_us;
};

}  // namespace kneepoint
