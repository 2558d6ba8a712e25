// A trace-driven link, with the semantics of mahimahi's mm-link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "links/trace.hh"
#include "measure/link_log.hh"
#include "measure/metrics.hh"
#include "queues/packet_queue.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Each line of the trace is an opportunity to deliver 1504 bytes in that millisecond. An
// opportunity that finds no packet is lost; a packet may span opportunities and one opportunity
// may carry many small packets. The opportunities of a millisecond are consumed before a packet
// that arrives in it is queued: it leaves strictly later.
class Link {
 public:
  enum class AtEnd { stop, repeat };  // what happens after the trace's last line

  Link(const Trace& trace, AtEnd at_end, std::unique_ptr<PacketQueue> queue)
      : trace_(trace), at_end_(at_end), queue_(std::move(queue)) {}

  // Observers, both optional; they must outlive the link.
  void observe(Meter* meter, LinkLog* log) {
    meter_ = meter;
    log_ = log;
  }

  // Queues a packet, after the opportunities up to and including now. Each packet that crosses the
  // link is passed to deliver(packet), in order.
  template <class Deliver>
  void enqueue(const Packet& packet, Milliseconds now_ms, Deliver deliver) {
    advance(now_ms, deliver);
    join_queue(packet, now_ms);
  }

  // Consumes every opportunity up to and including now.
  template <class Deliver>
  void advance(Milliseconds now_ms, Deliver deliver) {
    while (next_opportunity_ms_ <= now_ms) {
      if (holds_packet()) {
        use_opportunity(now_ms, deliver);
      } else {
        record_opportunity();
        next_opportunity();
      }
    }
  }

  // When the link must be advanced for the sake of a packet; never, while it holds none: lost
  // opportunities can be consumed at any later time.
  Milliseconds next_event_ms() const { return holds_packet() ? next_opportunity_ms_ : never; }

  uint64_t packets_dropped() const { return packets_dropped_; }

 private:
  bool holds_packet() const { return bytes_left_ > 0 or not queue_->empty(); }

  template <class Deliver>
  void use_opportunity(Milliseconds now_ms, Deliver deliver) {
    const Milliseconds opportunity_ms = next_opportunity_ms_;
    record_opportunity();
    uint32_t capacity_bytes = datagram_bytes;
    while (capacity_bytes > 0 and (bytes_left_ > 0 or take_next_packet(now_ms))) {
      const uint32_t carried_bytes = std::min(capacity_bytes, bytes_left_);
      capacity_bytes -= carried_bytes;
      bytes_left_ -= carried_bytes;
      if (bytes_left_ > 0) break;
      record_departure(opportunity_ms);
      deliver(in_transit_);
    }
    next_opportunity();
  }

  void join_queue(const Packet& packet, Milliseconds now_ms);
  bool take_next_packet(Milliseconds now_ms);
  void next_opportunity();
  void record_opportunity();
  void record_departure(Milliseconds opportunity_ms);
  void record_drops(Milliseconds now_ms);

  const Trace& trace_;
  AtEnd at_end_;
  std::unique_ptr<PacketQueue> queue_;
  Meter* meter_ = nullptr;
  LinkLog* log_ = nullptr;

  size_t position_ = 0;            // in the trace
  Milliseconds lap_start_ms_ = 0;  // when this repetition of the trace began
  Milliseconds next_opportunity_ms_ = trace_[0];

  Packet in_transit_{};
  uint32_t bytes_left_ = 0;  // of the packet in transit; 0 when there is none
  uint64_t packets_dropped_ = 0;
};

}  // namespace kneepoint
