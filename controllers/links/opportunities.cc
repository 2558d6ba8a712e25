#include "links/opportunities.hh"

#include <algorithm>

#include "common/progress.hh"

namespace kneepoint {

void Opportunities::lose_until(Milliseconds now_ms, LinkLog* log) {
  while (next_ms_ <= now_ms) {
    const Milliseconds latest_ms = now_ms - lap_start_ms_;
    size_t position = position_;
    for (; position < size_ and times_ms_[position] <= latest_ms; ++position) {
      if (log != nullptr) log->opportunity(lap_start_ms_ + times_ms_[position]);
    }
    position_ = position - 1;  // the last lost opportunity; take() moves to the next
    take();
  }
}

void Opportunities::begin_lap() {
  if (at_end_ == AtEnd::stop) {
    position_ = size_ - 1;  // it stays at the end
    next_ms_ = never_ms;
    return;
  }
  note_progress();  // years of lost opportunities may be consumed at once
  position_ = 0;
  lap_start_ms_ += trace_.last_ms();
  next_ms_ = lap_start_ms_ + trace_[0];
}

Opportunities::Past Opportunities::until(Milliseconds time_ms) const {
  const Milliseconds laps = at_end_ == AtEnd::stop ? 0 : time_ms / trace_.last_ms();
  const Milliseconds lap_start_ms = laps * trace_.last_ms();
  const int32_t* const end = times_ms_ + size_;
  const auto position =
      static_cast<size_t>(std::upper_bound(times_ms_, end, time_ms - lap_start_ms) - times_ms_);
  // The last opportunity of a lap is in the millisecond in which the next lap begins.
  return {static_cast<uint64_t>(laps) * size_ + position,
          position > 0 ? lap_start_ms + times_ms_[position - 1] : lap_start_ms};
}

}  // namespace kneepoint
