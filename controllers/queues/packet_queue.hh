// The buffer before a link, with its drop policy. Each policy is one file here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/block_queue.hh"
#include "common/notation.hh"
#include "transport/packet.hh"

namespace kneepoint {

inline constexpr double max_counted = 1e15;

// The bounds of a buffer; a bound that is not given is no limit.
struct Limit {
  explicit Limit(const Notation& given)
      : packets(static_cast<uint64_t>(given.value_or("packets", max_counted))),
        bytes(static_cast<uint64_t>(given.value_or("bytes", max_counted))) {}

  bool is_exceeded_by(uint64_t held_packets, uint64_t held_bytes) const {
    return held_packets > packets or held_bytes > bytes;
  }

  uint64_t packets;
  uint64_t bytes;
};

// Packets in the order of their arrival.
class Fifo {
 public:
  bool empty() const { return packets_.empty(); }
  uint64_t packets() const { return packets_.size(); }
  uint64_t bytes() const { return bytes_; }
  const Packet& front() const { return packets_.front(); }
  // When the first packet joined; never if there is none.
  Microseconds oldest_us() const { return empty() ? never : front().queued_us; }

  void push(const Packet& packet, Microseconds now_us) {
    Packet& queued = packets_.push();
    queued = packet;
    queued.queued_us = now_us;
    bytes_ += packet.bytes;
  }
  // The packet is valid until the next push.
  Packet& pop() {
    Packet& packet = packets_.pop();
    bytes_ -= packet.bytes;
    return packet;
  }

 private:
  BlockQueue<Packet> packets_{};
  uint64_t bytes_ = 0;
};

// The packets that a policy dropped, for the link's log.
struct Drops {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

class PacketQueue {
 public:
  virtual ~PacketQueue() = default;

  // Queues a packet, or drops it, or drops another packet for it.
  virtual void enqueue(const Packet& packet, Microseconds now_us) = 0;

  // The next packet to transmit, valid until the next enqueue; null if the queue is empty or all
  // remaining packets were dropped.
  virtual const Packet* dequeue(Microseconds now_us) = 0;

  // When the packet that has waited longest joined; never if there is none.
  virtual Microseconds oldest_us() const = 0;

  // Whether it never drops a packet, and transmits packets in the order of their arrival.
  virtual bool is_infinite() const { return false; }

  // The number of classes into which it sorts flows; 0: none.
  virtual size_t classes() const { return 0; }
  // Sets the class of each flow, by the flow's number, before the first packet.
  virtual void classify(const std::vector<uint16_t>& /* class_of_flow */) {}

  // Tells the queue, before the first packet, how many bytes the link can carry until a time, and
  // when the link ends, or never.
  using Capacity = std::function<double(Microseconds)>;
  virtual void know_capacity(Capacity /* bytes_until */, Microseconds /* end_us */) {}

  bool empty() const { return packets_ == 0; }
  uint64_t packets() const { return packets_; }
  uint64_t bytes() const { return bytes_; }

  bool has_drops() const { return drops_.packets > 0; }
  // The packets dropped since the last call.
  Drops take_drops() { return std::exchange(drops_, {}); }

  uint64_t packets_marked() const { return packets_marked_; }

 protected:
  friend class Codel;

  // Every packet joins and leaves the buffer by push() and pop(); `fifo` is a part of the buffer.
  void push(Fifo& fifo, const Packet& packet, Microseconds now_us) {
    fifo.push(packet, now_us);
    ++packets_;
    bytes_ += packet.bytes;
  }
  Packet& pop(Fifo& fifo) {
    Packet& packet = fifo.pop();
    --packets_;
    bytes_ -= packet.bytes;
    return packet;
  }

  void drop(const Packet& packet) {
    ++drops_.packets;
    drops_.bytes += packet.bytes;
  }

  // Marks the packet instead of dropping it, if its transport is ECN-capable (RFC 3168).
  bool mark(Packet& packet) {
    if (packet.ecn == Ecn::not_capable) return false;
    packet.ecn = Ecn::congestion_experienced;
    ++packets_marked_;
    return true;
  }

 private:
  uint64_t packets_ = 0;
  uint64_t bytes_ = 0;
  Drops drops_{};
  uint64_t packets_marked_ = 0;
};

}  // namespace kneepoint
