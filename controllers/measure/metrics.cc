#include "measure/metrics.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

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

}  // namespace

void Meter::start(Milliseconds duration_ms) {
  least_delay_ms_.assign(static_cast<size_t>(duration_ms) + 1, no_arrival_);
  std::ranges::fill(packets_by_delay_, 0);
  departures_ = departed_bytes_ = opportunities_ = 0;
  first_event_ms_ = never;
  last_event_ms_ = 0;
}

double Meter::queueing_delay_p95_ms() const {
  return percentile_95(packets_by_delay_, departures_);
}

double Meter::signal_delay_p95_ms() const {
  if (departures_ == 0) return undefined;
  const auto arrived = [](int32_t delay_ms) { return delay_ms != no_arrival_; };
  const auto last = std::find_if(least_delay_ms_.rbegin(), least_delay_ms_.rend(), arrived);
  const auto first = std::find_if(least_delay_ms_.begin(), least_delay_ms_.end(), arrived);
  const std::span arrivals(first, last.base());
  std::vector<uint32_t> milliseconds_by_delay(packets_by_delay_.size());
  size_t delay_ms = 0;
  for (size_t i = arrivals.size(); i-- > 0;) {
    delay_ms = arrived(arrivals[i]) ? static_cast<size_t>(arrivals[i]) : delay_ms + 1;
    if (delay_ms >= milliseconds_by_delay.size()) milliseconds_by_delay.resize(2 * delay_ms);
    ++milliseconds_by_delay[delay_ms];
  }
  return percentile_95(milliseconds_by_delay, arrivals.size());
}

Metrics Meter::metrics(std::optional<double> rate_mbps) const {
  Metrics result;
  const double duration_us = static_cast<double>(last_event_ms_ - first_event_ms_) * 1000;
  result.throughput_mbps = static_cast<double>(departed_bytes_) * 8 / duration_us;
  result.capacity_mbps =
      rate_mbps.value_or(static_cast<double>(opportunities_ * datagram_bytes) * 8 / duration_us);
  result.utilization = result.throughput_mbps / result.capacity_mbps;
  result.queueing_delay_p95_ms = queueing_delay_p95_ms();
  result.signal_delay_p95_ms = signal_delay_p95_ms();
  result.power = result.throughput_mbps / (result.signal_delay_p95_ms / 1000);
  return result;
}

}  // namespace kneepoint
