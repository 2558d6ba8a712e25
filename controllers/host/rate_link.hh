// A link of constant rate, and a wire of known delay, exact to the microsecond: hardware, which
// waits for no processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "host/process.hh"
#include "links/delay_trace.hh"
#include "links/timed_packets.hh"
#include "measure/metrics.hh"
#include "measure/samples.hh"
#include "measure/step_series.hh"
#include "queues/packet_queue.hh"

namespace kneepoint {

// Transmits one packet after the other, each for the time that its bytes take or, by packets, that
// 1504 bytes take.
class RateLink final : public Process {
 public:
  // The next hop must outlive it.
  RateLink(Microseconds& next_event_us, double rate_mbps, bool by_packets,
           std::unique_ptr<PacketQueue> queue, Hop& next)
      : agenda_us_(next_event_us),
        us_per_byte_(8 / rate_mbps),
        by_packets_(by_packets),
        queue_(std::move(queue)),
        next_(next) {}

  // The meter must outlive the link; without a meter the link measures nothing.
  void observe(Meter* meter) {
    meter_ = meter;
    if (meter == nullptr) return;
    meter->know_waiting([this] {
      return std::min(queue_->oldest_us(), departs_us_ == never ? never : in_transit_.queued_us);
    });
  }
  // Measures how long packets wait.
  void observe_delays() { queueing_delays_.emplace(); }
  // Records the number of waiting packets over time, without the packet in transit.
  void observe_queue(Microseconds interval_us, Microseconds run_us) {
    queued_packets_.emplace(interval_us, run_us);
  }

  // Packets come in order, so that all departures before this arrival can happen now.
  void arrive(Microseconds time_us, const Packet& packet) override {
    while (departs_us_ <= time_us) depart(departs_us_);
    if (meter_ != nullptr) meter_->event(whole_ms(time_us));
    queue_->enqueue(packet, time_us);
    if (queue_->has_drops()) packets_dropped_ += queue_->take_drops().packets;
    if (departs_us_ == never) begin(time_us);
    tell_queue(time_us);
    agenda_us_ = departs_us_;
  }

  void act(Microseconds now_us) override {
    depart(now_us);
    agenda_us_ = departs_us_;
  }

  void finish(Microseconds, Traffic& traffic) override {
    traffic.packets_dropped += packets_dropped_;
  }

  double capacity_bytes(Microseconds until_us) const {
    return static_cast<double>(until_us) / us_per_byte_;
  }

  uint64_t packets_dropped() const { return packets_dropped_; }
  uint64_t packets_marked() const { return queue_->packets_marked(); }
  uint64_t bytes_carried() const { return bytes_carried_; }
  // Requires observe_delays().
  const Samples& queueing_delays() const { return *queueing_delays_; }
  std::optional<StepSeries>& queued_packets() { return queued_packets_; }

 private:
  void depart(Microseconds now_us) {
    bytes_carried_ += in_transit_.bytes;
    if (meter_ != nullptr) {
      meter_->event(whole_ms(now_us));
      meter_->departure(whole_ms(in_transit_.queued_us), whole_ms(now_us), in_transit_.bytes);
    }
    next_.arrive(now_us, in_transit_);
    begin(now_us);
    tell_queue(now_us);
  }

  void tell_queue(Microseconds now_us) {
    if (not queued_packets_) return;
    queued_packets_->change(static_cast<double>(queue_->packets()), now_us);
  }

  void begin(Microseconds now_us) {
    const Packet* const packet = queue_->dequeue(now_us);
    if (queue_->has_drops()) packets_dropped_ += queue_->take_drops().packets;
    if (packet == nullptr) {
      departs_us_ = never;
      return;
    }
    in_transit_ = *packet;
    if (queueing_delays_) queueing_delays_->add(now_us - in_transit_.queued_us);
    const uint16_t bytes = by_packets_ ? datagram_bytes : in_transit_.bytes;
    // Fractions of microseconds add up while the link is busy.
    const double begun_us = std::max(free_us_, static_cast<double>(now_us));
    free_us_ = begun_us + bytes * us_per_byte_;
    departs_us_ = std::max(now_us, static_cast<Microseconds>(free_us_));
  }

  Microseconds& agenda_us_;
  double us_per_byte_;
  bool by_packets_;
  std::unique_ptr<PacketQueue> queue_;
  Hop& next_;
  Meter* meter_ = nullptr;
  std::optional<Samples> queueing_delays_{};
  std::optional<StepSeries> queued_packets_{};
  Packet in_transit_{};
  Microseconds departs_us_ = never;
  double free_us_ = 0;
  uint64_t packets_dropped_ = 0;
  uint64_t bytes_carried_ = 0;
};

// Delays each packet; none overtakes another.
class Wire final : public Process {
 public:
  // The next hop must outlive it.
  Wire(Microseconds& next_event_us, DelayTrace delays, Hop& next)
      : agenda_us_(next_event_us), delays_(std::move(delays)), next_(next) {}

  void arrive(Microseconds time_us, const Packet& packet) override {
    last_us_ = std::max(last_us_, time_us + delays_.at(time_us));
    underway_.push(last_us_, packet);
    agenda_us_ = underway_.next_us();
  }

  void act(Microseconds now_us) override {
    const Packet packet = underway_.pop();
    agenda_us_ = underway_.next_us();
    next_.arrive(now_us, packet);
  }

 private:
  Microseconds& agenda_us_;
  DelayTrace delays_;
  Hop& next_;
  TimedPackets underway_{};
  Microseconds last_us_ = 0;
};

}  // namespace kneepoint
