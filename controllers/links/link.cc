#include "links/link.hh"

#include "common/progress.hh"

namespace kneepoint {

void Link::lose_opportunities(Milliseconds now_ms) {
  while (next_opportunity_ms_ <= now_ms) {
    const Milliseconds latest_ms = now_ms - lap_start_ms_;
    while (position_ < size_ and opportunities_ms_[position_] <= latest_ms) {
      if (log_ != nullptr) log_->opportunity(lap_start_ms_ + opportunities_ms_[position_]);
      ++position_;
    }
    if (position_ == size_) {
      begin_lap();
    } else {
      next_opportunity_ms_ = lap_start_ms_ + opportunities_ms_[position_];
    }
  }
}

void Link::begin_lap() {
  if (at_end_ == AtEnd::stop) {
    next_opportunity_ms_ = never_ms;
    return;
  }
  note_progress();  // years of lost opportunities may be consumed at once
  position_ = 0;
  ++laps_;
  lap_start_ms_ += trace_.last_ms();
  next_opportunity_ms_ = lap_start_ms_ + trace_[0];
}

void Link::report() const {
  if (first_arrival_ms_ != never_ms) {
    meter_->event(first_arrival_ms_);
    meter_->event(last_arrival_ms_);
  }
  const uint64_t count = laps_ * trace_.size() + position_;
  if (count == 0) return;
  meter_->opportunities(count);
  meter_->event(trace_[0]);
  // The last one of a lap is in the millisecond in which the next one begins.
  meter_->event(position_ > 0 ? lap_start_ms_ + trace_[position_ - 1] : lap_start_ms_);
}

void Link::record_drops(Milliseconds now_ms) {
  const Drops drops = queue_->take_drops();
  packets_dropped_ += drops.packets;
  if (meter_ != nullptr) meter_->event(now_ms);
  if (log_ != nullptr) log_->drop(now_ms, drops.packets, drops.bytes);
}

}  // namespace kneepoint
