// Queues that transmit packets in the order of their arrival.
#pragma once

#include <cstdint>

#include "queues/packet_queue.hh"

namespace kneepoint {

// Drops the packet that arrives at a full queue.
class FifoQueue : public PacketQueue {
 public:
  explicit FifoQueue(const Notation& given, uint64_t /* seed */ = 0) : limit_(given) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    if (is_full_for(packet)) {
      drop(packet);
    } else {
      push(fifo_, packet, now_us);
    }
  }

  const Packet* dequeue(Microseconds) override { return empty() ? nullptr : &pop(fifo_); }

  Microseconds oldest_us() const override { return fifo_.oldest_us(); }

 protected:
  bool is_full_for(const Packet& packet) const {
    return limit_.is_exceeded_by(packets() + 1, bytes() + packet.bytes);
  }

  Limit limit_;
  Fifo fifo_{};
};

}  // namespace kneepoint
