#include "network/link.hh"

#include <algorithm>

namespace kneepoint {

void Link::enqueue(Packet packet, Milliseconds now_ms) {
  advance(now_ms);
  packet.queued_ms = now_ms;
  if (meter_ != nullptr) meter_->event(now_ms);
  if (log_ != nullptr) log_->arrival(now_ms, packet.bytes);
  queue_->enqueue(packet, now_ms);
  record_drops(now_ms);
}

void Link::advance(Milliseconds now_ms) {
  while (next_opportunity_ms_ <= now_ms) {
    if (holds_packet()) {
      use_opportunity(now_ms);
    } else {
      skip_lost_opportunities(now_ms);
    }
  }
}

void Link::skip_lost_opportunities(Milliseconds now_ms) {
  while (next_opportunity_ms_ <= now_ms) {
    record_opportunity();
    next_opportunity();
  }
}

void Link::use_opportunity(Milliseconds now_ms) {
  const Milliseconds opportunity_ms = next_opportunity_ms_;
  record_opportunity();
  uint32_t capacity = datagram_bytes;
  while (capacity > 0) {
    if (bytes_left_ == 0) {
      const auto packet = queue_->dequeue(now_ms);
      record_drops(now_ms);
      if (not packet) break;
      in_transit_ = *packet;
      bytes_left_ = packet->bytes;
    }
    const uint32_t carried = std::min(capacity, bytes_left_);
    capacity -= carried;
    bytes_left_ -= carried;
    if (bytes_left_ > 0) break;
    delivered_.push(in_transit_);
    if (meter_ != nullptr) {
      meter_->departure(in_transit_.queued_ms, opportunity_ms, in_transit_.bytes);
    }
    if (log_ != nullptr) {
      log_->departure(opportunity_ms, in_transit_.bytes, opportunity_ms - in_transit_.queued_ms);
    }
  }
  next_opportunity();
}

void Link::next_opportunity() {
  if (++position_ == trace_.size()) {
    if (at_end_ == AtEnd::stop) {
      next_opportunity_ms_ = never;
      return;
    }
    position_ = 0;
    lap_start_ms_ += trace_.last_ms();
  }
  next_opportunity_ms_ = lap_start_ms_ + trace_[position_];
}

void Link::record_opportunity() {
  if (meter_ != nullptr) {
    meter_->opportunities(1);
    meter_->event(next_opportunity_ms_);
  }
  if (log_ != nullptr) log_->opportunity(next_opportunity_ms_);
}

void Link::record_drops(Milliseconds now_ms) {
  const Drops drops = queue_->take_drops();
  if (drops.packets == 0) return;
  packets_dropped_ += drops.packets;
  if (meter_ != nullptr) meter_->event(now_ms);
  if (log_ != nullptr) log_->drop(now_ms, drops.packets, drops.bytes);
}

}  // namespace kneepoint
