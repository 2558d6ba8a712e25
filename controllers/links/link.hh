// A trace-driven link, with the semantics of mahimahi's mm-link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "links/opportunities.hh"
#include "links/timed_packets.hh"
#include "links/trace.hh"
#include "measure/link_log.hh"
#include "measure/metrics.hh"
#include "queues/packet_queue.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Each line of the trace is an opportunity to deliver 1504 bytes in that millisecond. An
// opportunity that finds no packet is lost; a packet may span opportunities and one opportunity may
// carry many small packets. The opportunities of a millisecond are consumed before a packet that
// arrives in this millisecond is queued, so that the packet leaves strictly later.
//
// With an infinite queue, which reorders and drops nothing, a packet's departure is decided when
// the packet arrives. All other queues are polled at each opportunity.
class Link {
 public:
  using AtEnd = Opportunities::AtEnd;

  Link(const Trace& trace, AtEnd at_end, std::unique_ptr<PacketQueue> queue)
      : opportunities_(trace, at_end),
        queue_(std::move(queue)),
        decides_on_arrival_(queue_->is_infinite()) {}

  // Sets the observers, both optional, before the first packet. They must outlive the link, which
  // must not be moved afterwards. The meter receives departures up to and including `end_ms`, but
  // arrivals and opportunities only from report().
  void observe(Meter* meter, LinkLog* log, Milliseconds end_ms) {
    meter_ = meter;
    log_ = log;
    if (meter == nullptr) return;
    end_ms_ = end_ms;
    meter->know_waiting([this] {
      return std::min(queue_->oldest_us(), bytes_left_ > 0 ? in_transit_.queued_us : never);
    });
  }

  // Queues a packet; advance(now_ms) comes first if it is due.
  [[gnu::always_inline]] void enqueue(const Packet& packet, Milliseconds now_ms) {
    if (decides_on_arrival_) {
      decide(packet, now_ms);
    } else {
      queue(packet, now_ms);
    }
  }

  // Consumes every opportunity up to and including now. Each packet that crosses the link is passed
  // to deliver(packet), in order.
  template <class Deliver>
  [[gnu::always_inline]] void advance(Milliseconds now_ms, const Deliver& deliver) {
    if (decides_on_arrival_) [[likely]] {
      decided_.release(now_ms * 1000, deliver);
      next_event_us_ = decided_.next_us();
    } else {
      while (next_event_us_ <= now_ms * 1000) use_opportunity(now_ms, deliver);
    }
    if (log_ != nullptr) [[unlikely]]
      write_log(now_ms);
  }

  // When the link must be advanced because of a packet; beyond_us while the link holds no packet,
  // since lost opportunities can be consumed at any later time.
  Microseconds next_event_us() const { return next_event_us_; }

  double capacity_bytes(Microseconds until_us) const {
    return static_cast<double>(opportunities_.until(whole_ms(until_us)).count * datagram_bytes);
  }

  uint64_t packets_dropped() const { return packets_dropped_; }
  uint64_t packets_marked() const { return queue_->packets_marked(); }

  // Reports to the meter the first and the last arrival, and all opportunities up to and including
  // the end.
  void report() const;

 private:
  void write_log(Milliseconds now_ms);
  // Plans the next opportunity, if a packet can use it.
  void expect_opportunity() {
    next_event_us_ = holds_packet() ? opportunities_.next_ms() * 1000 : beyond_us;
  }
  bool holds_packet() const { return bytes_left_ > 0 or not queue_->empty(); }

  // The packet uses the rest of its predecessor's last opportunity, and as many further
  // opportunities as it needs.
  [[gnu::always_inline]] void decide(const Packet& packet, Milliseconds now_ms) {
    last_arrival_ms_ = now_ms;
    if (departure_ms_ <= now_ms) {  // the queue is empty
      if (first_arrival_ms_ == never_ms) [[unlikely]]
        first_arrival_ms_ = now_ms;
      if (opportunities_.next_ms() <= now_ms) opportunities_.lose_until(now_ms, log_);
      capacity_bytes_ = 0;
    }
    if (log_ != nullptr) [[unlikely]]
      log_->arrival(now_ms, packet.bytes);
    uint32_t capacity_bytes = capacity_bytes_;
    while (packet.bytes > capacity_bytes) {
      departure_ms_ = opportunities_.next_ms();
      if (log_ != nullptr) [[unlikely]]
        log_->opportunity(departure_ms_);
      opportunities_.take();
      capacity_bytes += datagram_bytes;
    }
    capacity_bytes_ = capacity_bytes - packet.bytes;
    decided_.push(departure_ms_ * 1000, packet);
    next_event_us_ = decided_.next_us();
    if (departure_ms_ <= end_ms_) record_departure(now_ms, departure_ms_, packet.bytes);
  }
  void queue(const Packet& packet, Milliseconds now_ms);
  const Packet* dequeue(Milliseconds now_ms);
  [[gnu::always_inline]] void record_departure(Milliseconds arrival_ms, Milliseconds departure_ms,
                                               uint16_t bytes) {
    meter_->departure(arrival_ms, departure_ms, bytes);
    if (log_ != nullptr) [[unlikely]]
      log_->departure(departure_ms, bytes, departure_ms - arrival_ms);
  }
  void record_drops(Milliseconds now_ms);

  template <class Deliver>
  [[gnu::noinline]] void use_opportunity(Milliseconds now_ms, const Deliver& deliver) {
    const Milliseconds opportunity_ms = opportunities_.next_ms();
    if (log_ != nullptr) log_->opportunity(opportunity_ms);
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
      if (meter_ != nullptr) {
        record_departure(whole_ms(packet->queued_us), opportunity_ms, packet->bytes);
      }
      deliver(*packet);
    } while (capacity_bytes > 0 and holds_packet());
    opportunities_.take();
    expect_opportunity();
  }

  Opportunities opportunities_;
  std::unique_ptr<PacketQueue> queue_;
  Meter* meter_ = nullptr;
  LinkLog* log_ = nullptr;
  Milliseconds end_ms_ = -1;  // of the measurement
  Milliseconds first_arrival_ms_ = never_ms;
  Milliseconds last_arrival_ms_ = never_ms;

  Microseconds next_event_us_ = beyond_us;
  bool decides_on_arrival_;
  TimedPackets decided_{};          // with their departures
  Milliseconds departure_ms_ = -1;  // of the last packet
  uint32_t capacity_bytes_ = 0;     // left of the last packet's last opportunity

  Packet in_transit_{};
  uint32_t bytes_left_ = 0;  // of the packet in transit; 0 when there is none
  uint64_t packets_dropped_ = 0;
};

}  // namespace kneepoint
