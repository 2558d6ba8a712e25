// The buffer before a link, and its policy of dropping. A policy is one file here.
#pragma once

#include <cstdint>
#include <utility>

#include "transport/packet.hh"

namespace kneepoint {

// What a policy dropped, for the link's log.
struct Drops {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

class PacketQueue {
 public:
  virtual ~PacketQueue() = default;

  // Take in a packet, or drop it, or drop another one for it.
  virtual void enqueue(const Packet& packet, Microseconds now_us) = 0;

  // The next packet to transmit, to be used before the next enqueue; null when the queue is empty
  // or all that was left was dropped.
  virtual const Packet* dequeue(Microseconds now_us) = 0;

  bool empty() const { return packets_ == 0; }
  uint64_t packets() const { return packets_; }
  uint64_t bytes() const { return bytes_; }

  bool has_drops() const { return drops_.packets > 0; }
  // What was dropped since the last call.
  Drops take_drops() { return std::exchange(drops_, {}); }

 protected:
  // For every packet that joins the buffer, and that leaves it in whatever way.
  void count_in(const Packet& packet) {
    ++packets_;
    bytes_ += packet.bytes;
  }
  void count_out(const Packet& packet) {
    --packets_;
    bytes_ -= packet.bytes;
  }

  void drop(const Packet& packet) {
    ++drops_.packets;
    drops_.bytes += packet.bytes;
  }

 private:
  uint64_t packets_ = 0;
  uint64_t bytes_ = 0;
  Drops drops_{};
};

}  // namespace kneepoint
