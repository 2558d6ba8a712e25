#include "host/flight_record.hh"

#include <algorithm>

namespace kneepoint {

void FlightRecord::settle(Microseconds until_us) {
  const auto next_us = [](const BlockQueue<Event>& events) {
    return events.empty() ? never : events.front().time_us;
  };
  while (std::min(next_us(sent_), next_us(acknowledged_)) < until_us) {
    if (next_us(acknowledged_) <= next_us(sent_)) {
      const Event event = acknowledged_.pop();
      next_unacknowledged_ = std::max(next_unacknowledged_, event.number + 1);
      if (log_ != nullptr) {
        log_->acknowledged(event.time_us, flow_, event.number, event.rtt_ms, in_flight());
      }
      if (meter_ != nullptr) meter_->saw_window(in_flight(), event.time_us);
    } else {
      const Event event = sent_.pop();
      next_ = event.number + 1;
      if (log_ != nullptr) log_->sent(event.time_us, flow_, event.number);
      if (meter_ != nullptr) meter_->saw_window(in_flight(), event.time_us);
    }
  }
}

}  // namespace kneepoint
