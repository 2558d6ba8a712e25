#include "links/link.hh"

namespace kneepoint {

void Link::queue(const Packet& packet, Milliseconds now_ms) {
  last_arrival_ms_ = now_ms;
  opportunities_.lose_until(now_ms, log_);
  if (first_arrival_ms_ == never_ms) first_arrival_ms_ = now_ms;
  if (log_ != nullptr) log_->arrival(now_ms, packet.bytes);
  queue_->enqueue(packet, now_ms * 1000);
  if (queue_->has_drops()) record_drops(now_ms);
  expect_opportunity();
}

const Packet* Link::dequeue(Milliseconds now_ms) {
  const Packet* const packet = queue_->dequeue(now_ms * 1000);
  if (queue_->has_drops()) record_drops(now_ms);
  return packet;
}

void Link::write_log(Milliseconds now_ms) {
  opportunities_.lose_until(now_ms, log_);
  log_->write_until(now_ms);
}

void Link::record_drops(Milliseconds now_ms) {
  const Drops drops = queue_->take_drops();
  packets_dropped_ += drops.packets;
  if (meter_ != nullptr) meter_->event(now_ms);
  if (log_ != nullptr) log_->drop(now_ms, drops.packets, drops.bytes);
}

void Link::report() const {
  if (first_arrival_ms_ != never_ms) {
    meter_->event(first_arrival_ms_);
    meter_->event(last_arrival_ms_);
  }
  const auto [count, last_ms] = opportunities_.until(end_ms_);
  if (count == 0) return;
  meter_->opportunities(count);
  meter_->event(opportunities_.first_ms());
  meter_->event(last_ms);
}

}  // namespace kneepoint
