// A trace-driven link, with the semantics of mahimahi's mm-link.
#pragma once

#include <cstdint>
#include <memory>

#include "network/link_log.hh"
#include "network/metrics.hh"
#include "network/packet.hh"
#include "network/packet_queue.hh"
#include "network/ring.hh"
#include "network/trace.hh"

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

  void enqueue(Packet packet, Milliseconds now_ms);

  // Consumes every opportunity up to and including now.
  void advance(Milliseconds now_ms);

  // When the link must be advanced for the sake of a packet; never, while it holds none: lost
  // opportunities can be consumed at any later time.
  Milliseconds next_event_ms() const { return holds_packet() ? next_opportunity_ms_ : never; }

  // Packets that have crossed the link, in order, for the next hop to take.
  Ring<Packet>& delivered() { return delivered_; }

  uint64_t packets_dropped() const { return packets_dropped_; }

 private:
  bool holds_packet() const { return bytes_left_ > 0 or not queue_->empty(); }
  void skip_lost_opportunities(Milliseconds now_ms);
  void use_opportunity(Milliseconds now_ms);
  void next_opportunity();
  void record_opportunity();
  void record_drops(Milliseconds now_ms);

  const Trace& trace_;
  AtEnd at_end_;
  std::unique_ptr<PacketQueue> queue_;
  Meter* meter_ = nullptr;
  LinkLog* log_ = nullptr;

  size_t position_ = 0;          // in the trace
  Milliseconds lap_start_ms_ = 0;  // when this repetition of the trace began
  Milliseconds next_opportunity_ms_ = trace_[0];

  Packet in_transit_{};
  uint32_t bytes_left_ = 0;  // of the packet in transit; 0 when there is none
  Ring<Packet> delivered_{};
  uint64_t packets_dropped_ = 0;
};

}  // namespace kneepoint
