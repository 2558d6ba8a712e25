#include "links/link.hh"

#include "common/progress.hh"

namespace kneepoint {

void Link::join_queue(const Packet& packet, Milliseconds now_ms) {
  if (meter_ != nullptr) meter_->event(now_ms);
  if (log_ != nullptr) log_->arrival(now_ms, packet.bytes);
  queue_->enqueue(packet, now_ms * 1000);
  record_drops(now_ms);
}

bool Link::take_next_packet(Milliseconds now_ms) {
  const Packet* packet = queue_->dequeue(now_ms * 1000);
  record_drops(now_ms);
  if (packet == nullptr) return false;
  in_transit_ = *packet;
  bytes_left_ = packet->bytes;
  return true;
}

void Link::next_opportunity() {
  if (++position_ == trace_.size()) {
    if (at_end_ == AtEnd::stop) {
      next_opportunity_ms_ = never;
      return;
    }
    note_progress();  // years of lost opportunities may be consumed at once
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

void Link::record_departure(Milliseconds opportunity_ms) {
  const Milliseconds arrival_ms = whole_ms(in_transit_.queued_us);
  if (meter_ != nullptr) meter_->departure(arrival_ms, opportunity_ms, in_transit_.bytes);
  if (log_ != nullptr) {
    log_->departure(opportunity_ms, in_transit_.bytes, opportunity_ms - arrival_ms);
  }
}

void Link::record_drops(Milliseconds now_ms) {
  if (not queue_->has_drops()) return;
  const Drops drops = queue_->take_drops();
  packets_dropped_ += drops.packets;
  if (meter_ != nullptr) meter_->event(now_ms);
  if (log_ != nullptr) log_->drop(now_ms, drops.packets, drops.bytes);
}

}  // namespace kneepoint
