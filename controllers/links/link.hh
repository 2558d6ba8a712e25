// A trace-driven link, with the semantics of mahimahi's mm-link.
#pragma once

#include <cstdint>
#include <memory>
#include <typeinfo>
#include <utility>

#include "links/trace.hh"
#include "measure/link_log.hh"
#include "measure/metrics.hh"
#include "queues/fifo.hh"
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
      : trace_(trace),
        opportunities_ms_(trace.begin()),
        at_end_(at_end),
        queue_(std::move(queue)),
        fifo_(to_plain_fifo(*queue_)) {}

  // Observers, both optional; they must outlive the link. The meter hears of arrivals and
  // opportunities at the end, from report().
  void observe(Meter* meter, LinkLog* log) {
    meter_ = meter;
    log_ = log;
  }

  // Queues a packet, after the opportunities up to and including now. Each packet that crosses the
  // link is passed to deliver(packet), in order.
  template <class Deliver>
  void enqueue(const Packet& packet, Milliseconds now_ms, const Deliver& deliver) {
    advance(now_ms, deliver);
    enqueue(packet, now_ms);
  }

  // Whether a packet that is queued now has others delivered before.
  bool delivers_at(Milliseconds now_ms) const { return next_event_ms_ <= now_ms; }

  // The same where nothing is delivered.
  [[gnu::always_inline]] void enqueue(const Packet& packet, Milliseconds now_ms) {
    if (next_opportunity_ms_ <= now_ms) lose_opportunities(now_ms);
    if (last_arrival_ms_ == never_ms) [[unlikely]]
      first_arrival_ms_ = now_ms;
    last_arrival_ms_ = now_ms;
    if (log_ != nullptr) [[unlikely]]
      log_->arrival(now_ms, packet.bytes);
    if (fifo_ != nullptr) [[likely]] {
      fifo_->FifoQueue::enqueue(packet, now_ms * 1000);
    } else {
      queue_->enqueue(packet, now_ms * 1000);
    }
    if (next_event_ms_ == never_ms) next_event_ms_ = next_opportunity_ms_;
    if (queue_->has_drops()) [[unlikely]] {
      record_drops(now_ms);
      if (not holds_packet()) next_event_ms_ = never_ms;
    }
  }

  // Consumes every opportunity up to and including now.
  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    while (next_event_ms_ <= now_ms) use_opportunity(now_ms, deliver);
    if (next_opportunity_ms_ <= now_ms) lose_opportunities(now_ms);
  }

  // When the link must be advanced for the sake of a packet; never, while it holds none: lost
  // opportunities can be consumed at any later time.
  Milliseconds next_event_ms() const { return next_event_ms_; }

  uint64_t packets_dropped() const { return packets_dropped_; }
  uint64_t packets_marked() const { return queue_->packets_marked(); }

  // Tells the meter of the arrivals, and of all opportunities that were consumed.
  void report() const;

 private:
  static FifoQueue* to_plain_fifo(PacketQueue& queue) {
    return typeid(queue) == typeid(FifoQueue) ? static_cast<FifoQueue*>(&queue) : nullptr;
  }

  bool holds_packet() const { return bytes_left_ > 0 or not queue_->empty(); }

  template <class Deliver>
  [[gnu::always_inline]] void use_opportunity(Milliseconds now_ms, const Deliver& deliver) {
    const Milliseconds opportunity_ms = next_opportunity_ms_;
    if (log_ != nullptr) [[unlikely]]
      log_->opportunity(opportunity_ms);
    uint32_t capacity_bytes = datagram_bytes;
    do {
      const Packet* packet = &in_transit_;
      uint32_t bytes = bytes_left_;
      if (bytes == 0) {
        packet = dequeue(now_ms);
        if (packet == nullptr) break;
        bytes = packet->bytes;
      }
      if (bytes > capacity_bytes) {
        if (packet != &in_transit_) in_transit_ = *packet;
        bytes_left_ = bytes - capacity_bytes;
        break;
      }
      capacity_bytes -= bytes;
      bytes_left_ = 0;
      if (meter_ != nullptr) record_departure(*packet, opportunity_ms);
      deliver(*packet);
    } while (capacity_bytes > 0 and holds_packet());
    if (++position_ == size_) [[unlikely]] {
      begin_lap();
    } else {
      next_opportunity_ms_ = lap_start_ms_ + opportunities_ms_[position_];
    }
    next_event_ms_ = holds_packet() ? next_opportunity_ms_ : never_ms;
  }

  const Packet* dequeue(Milliseconds now_ms) {
    if (fifo_ != nullptr) [[likely]]
      return fifo_->FifoQueue::dequeue(now_ms * 1000);
    const Packet* const packet = queue_->dequeue(now_ms * 1000);
    if (queue_->has_drops()) record_drops(now_ms);
    return packet;
  }

  void record_departure(const Packet& packet, Milliseconds opportunity_ms) {
    const Milliseconds arrival_ms = whole_ms(packet.queued_us);
    meter_->departure(arrival_ms, opportunity_ms, packet.bytes);
    if (log_ != nullptr) [[unlikely]]
      log_->departure(opportunity_ms, packet.bytes, opportunity_ms - arrival_ms);
  }

  void lose_opportunities(Milliseconds now_ms);
  void begin_lap();
  void record_drops(Milliseconds now_ms);

  const Trace& trace_;
  const int32_t* opportunities_ms_;  // the trace's
  AtEnd at_end_;
  std::unique_ptr<PacketQueue> queue_;
  FifoQueue* fifo_;  // the queue, if it is no more than that: to call it directly
  Meter* meter_ = nullptr;
  LinkLog* log_ = nullptr;

  size_t size_ = trace_.size();
  size_t position_ = 0;  // in the trace
  uint64_t laps_ = 0;    // that are over
  Milliseconds lap_start_ms_ = 0;
  Milliseconds next_opportunity_ms_ = trace_[0];
  Milliseconds next_event_ms_ = never_ms;
  Milliseconds first_arrival_ms_ = never_ms;
  Milliseconds last_arrival_ms_ = never_ms;

  Packet in_transit_{};
  uint32_t bytes_left_ = 0;  // of the packet in transit; 0 when there is none
  uint64_t packets_dropped_ = 0;
};

}  // namespace kneepoint
