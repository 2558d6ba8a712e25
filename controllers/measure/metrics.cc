#include "measure/metrics.hh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "transport/packet.hh"

namespace kneepoint {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// The value of element floor(0.95 n) of n sorted delays, given how many packets had each delay.
double percentile_95(const std::vector<uint32_t>& count_by_delay, uint64_t total) {
  if (total == 0) return undefined;
  const auto rank = static_cast<uint64_t>(0.95 * static_cast<double>(total));  // as in Perl
  uint64_t below = 0;
  size_t delay = 0;
  while ((below += count_by_delay[delay]) <= rank) ++delay;
  return static_cast<double>(delay);
}

void count_in(std::vector<uint32_t>& count_by_delay, size_t delay) {
  if (delay >= count_by_delay.size()) count_by_delay.resize(delay + 1);
  ++count_by_delay[delay];
}

}  // namespace

void Meter::start(Milliseconds duration_ms) {
  least_delay_ms_.assign(static_cast<size_t>(duration_ms) + 1, no_arrival_);
  std::ranges::fill(packets_by_delay_, 0);
  departures_ = departed_bytes_ = opportunities_ = 0;
  first_event_ms_ = first_arrival_ms_ = never;
  last_event_ms_ = 0;
  last_arrival_ms_ = -1;
}

void Meter::departure(Milliseconds arrival_ms, Milliseconds departure_ms, uint32_t bytes) {
  const Milliseconds delay_ms = departure_ms - arrival_ms;
  ++departures_;
  departed_bytes_ += bytes;
  first_arrival_ms_ = std::min(first_arrival_ms_, arrival_ms);
  last_arrival_ms_ = std::max(last_arrival_ms_, arrival_ms);
  int32_t& least_ms = least_delay_ms_[static_cast<size_t>(arrival_ms)];
  if (least_ms == no_arrival_ or delay_ms < least_ms) least_ms = static_cast<int32_t>(delay_ms);
  count_in(packets_by_delay_, static_cast<size_t>(delay_ms));
}

double Meter::queueing_delay_p95_ms() const {
  return percentile_95(packets_by_delay_, departures_);
}

double Meter::signal_delay_p95_ms() const {
  std::vector<uint32_t> milliseconds_by_delay;
  int64_t delay_ms = 0;
  for (Milliseconds t = last_arrival_ms_; t >= first_arrival_ms_; --t) {
    const int32_t least_ms = least_delay_ms_[static_cast<size_t>(t)];
    delay_ms = least_ms == no_arrival_ ? delay_ms + 1 : least_ms;
    count_in(milliseconds_by_delay, static_cast<size_t>(delay_ms));
  }
  if (departures_ == 0) return undefined;
  return percentile_95(milliseconds_by_delay,
                       static_cast<uint64_t>(last_arrival_ms_ - first_arrival_ms_ + 1));
}

Metrics Meter::metrics() const {
  Metrics result;
  const double duration_us = static_cast<double>(last_event_ms_ - first_event_ms_) * 1000;
  result.throughput_mbps = static_cast<double>(departed_bytes_) * 8 / duration_us;
  result.capacity_mbps = static_cast<double>(opportunities_ * datagram_bytes) * 8 / duration_us;
  result.utilization = result.throughput_mbps / result.capacity_mbps;
  result.queueing_delay_p95_ms = queueing_delay_p95_ms();
  result.signal_delay_p95_ms = signal_delay_p95_ms();
  result.power = result.throughput_mbps / (result.signal_delay_p95_ms / 1000);
  return result;
}

}  // namespace kneepoint
