// Queues that transmit packets in the order of their arrival.
#pragma once

#include <cstdint>
#include <limits>

#include "common/block_queue.hh"
#include "queues/packet_queue.hh"

namespace kneepoint {

// A queue's limits; by default none.
struct Limit {
  uint64_t packets = std::numeric_limits<uint64_t>::max();
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
};

// Drops the packet that arrives at a full queue.
class FifoQueue : public PacketQueue {
 public:
  explicit FifoQueue(Limit limit = {}) : limit_(limit) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    if (is_full_for(packet)) {
      drop(packet);
    } else {
      push(packet, now_us);
    }
  }

  const Packet* dequeue(Microseconds) override { return empty() ? nullptr : &pop(); }

 protected:
  bool is_full_for(const Packet& packet) const {
    return packets() >= limit_.packets or bytes() + packet.bytes > limit_.bytes;
  }
  bool overfull() const { return packets() > limit_.packets or bytes() > limit_.bytes; }

  void push(const Packet& packet, Microseconds now_us) {
    Packet& queued = packets_.push();
    queued = packet;
    queued.queued_us = now_us;
    count_in(packet);
  }

  Packet& pop() {
    Packet& packet = packets_.pop();
    count_out(packet);
    return packet;
  }

 private:
  BlockQueue<Packet> packets_{};
  Limit limit_;
};

}  // namespace kneepoint
