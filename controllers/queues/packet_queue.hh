// The buffer before a link, and its policy of dropping.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/ring.hh"
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
  virtual void enqueue(const Packet& packet, Milliseconds now_ms) = 0;

  // The next packet to transmit, to be used before the next enqueue; null when the queue is empty
  // or all that was left was dropped.
  virtual const Packet* dequeue(Milliseconds now_ms) = 0;

  bool empty() const { return packets_.empty(); }
  uint64_t bytes() const { return bytes_; }

  // What was dropped since the last call.
  Drops take_drops() { return std::exchange(drops_, {}); }

 protected:
  void push(const Packet& packet, Milliseconds now_ms) {
    Packet& queued = packets_.push();
    queued = packet;
    queued.queued_ms = stamp(now_ms);
    bytes_ += packet.bytes;
  }
  const Packet& pop() {
    const Packet& packet = packets_.pop();
    bytes_ -= packet.bytes;
    return packet;
  }
  void drop(const Packet& packet) {
    ++drops_.packets;
    drops_.bytes += packet.bytes;
  }
  size_t packets() const { return packets_.size(); }
  const Packet& front() const { return packets_.front(); }

 private:
  Ring<Packet> packets_{};
  uint64_t bytes_ = 0;
  Drops drops_{};
};

// From "infinite", "droptail:packets=100", "drophead:bytes=150000",
// "codel:target=5,interval=100[,packets=N][,bytes=N]" or
// "pie:qdelay_ref=20,max_burst=100[,packets=N][,bytes=N]" (times in ms).
// Throws std::invalid_argument for an unknown policy or argument, a missing or impossible value.
// The seed is for pie, the only policy that draws random numbers.
std::unique_ptr<PacketQueue> make_packet_queue(const std::string& description, uint64_t seed);

}  // namespace kneepoint
