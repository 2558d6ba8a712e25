// A trace-driven link, with the semantics of mahimahi's mm-link.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

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

  // Observers, both optional; they must outlive the link. The meter hears of the opportunities at
  // the end, from report_opportunities().
  void observe(Meter* meter, LinkLog* log) {
    meter_ = meter;
    log_ = log;
  }

  // Queues a packet, after the opportunities up to and including now. Each packet that crosses the
  // link is passed to deliver(packet), in order.
  template <class Deliver>
  void enqueue(const Packet& packet, Milliseconds now_ms, Deliver deliver) {
    if (next_opportunity_ms_ <= now_ms) advance(now_ms, deliver);
    if (meter_ != nullptr) meter_->event(now_ms);
    if (log_ != nullptr) log_->arrival(now_ms, packet.bytes);
    queue_->enqueue(packet, now_ms * 1000);
    if (queue_->has_drops()) record_drops(now_ms);
  }

  // Consumes every opportunity up to and including now.
  template <class Deliver>
  void advance(Milliseconds now_ms, Deliver deliver) {
    while (next_opportunity_ms_ <= now_ms) {
      if (holds_packet()) {
        use_opportunity(now_ms, deliver);
      } else {
        lose_opportunities(now_ms);
      }
    }
  }

  // When the link must be advanced for the sake of a packet; never, while it holds none: lost
  // opportunities can be consumed at any later time.
  Milliseconds next_event_ms() const { return holds_packet() ? next_opportunity_ms_ : never; }

  uint64_t packets_dropped() const { return packets_dropped_; }
  uint64_t packets_marked() const { return queue_->packets_marked(); }

  // Tells the meter of all opportunities that were consumed.
  void report_opportunities() const;

 private:
  bool holds_packet() const { return bytes_left_ > 0 or not queue_->empty(); }

  template <class Deliver>
  void use_opportunity(Milliseconds now_ms, Deliver deliver) {
    const Milliseconds opportunity_ms = next_opportunity_ms_;
    if (log_ != nullptr) log_->opportunity(opportunity_ms);
    uint32_t capacity_bytes = datagram_bytes;
    if (bytes_left_ > 0) {
      if (bytes_left_ > capacity_bytes) {
        bytes_left_ -= capacity_bytes;
        capacity_bytes = 0;
      } else {
        capacity_bytes -= std::exchange(bytes_left_, 0);
        record_departure(in_transit_, opportunity_ms);
        deliver(in_transit_);
      }
    }
    while (capacity_bytes > 0 and not queue_->empty()) {
      const Packet* const packet = queue_->dequeue(now_ms * 1000);
      if (queue_->has_drops()) record_drops(now_ms);
      if (packet == nullptr) break;
      if (packet->bytes > capacity_bytes) {
        in_transit_ = *packet;
        bytes_left_ = packet->bytes - capacity_bytes;
        break;
      }
      capacity_bytes -= packet->bytes;
      record_departure(*packet, opportunity_ms);
      deliver(*packet);
    }
    if (++position_ == size_) {
      begin_lap();
    } else {
      next_opportunity_ms_ = lap_start_ms_ + trace_[position_];
    }
  }

  void record_departure(const Packet& packet, Milliseconds opportunity_ms) {
    if (meter_ == nullptr) return;
    const Milliseconds arrival_ms = whole_ms(packet.queued_us);
    meter_->departure(arrival_ms, opportunity_ms, packet.bytes);
    if (log_ != nullptr) log_->departure(opportunity_ms, packet.bytes, opportunity_ms - arrival_ms);
  }

  void lose_opportunities(Milliseconds now_ms);
  void begin_lap();
  void record_drops(Milliseconds now_ms);

  const Trace& trace_;
  AtEnd at_end_;
  std::unique_ptr<PacketQueue> queue_;
  Meter* meter_ = nullptr;
  LinkLog* log_ = nullptr;

  size_t size_ = trace_.size();
  size_t position_ = 0;  // in the trace
  uint64_t laps_ = 0;    // that are over
  Milliseconds lap_start_ms_ = 0;
  Milliseconds next_opportunity_ms_ = trace_[0];

  Packet in_transit_{};
  uint32_t bytes_left_ = 0;  // of the packet in transit; 0 when there is none
  uint64_t packets_dropped_ = 0;
};

}  // namespace kneepoint
