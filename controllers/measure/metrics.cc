#include "measure/metrics.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "transport/packet.hh"

namespace kneepoint {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// The value of element floor(q n) of n sorted delays, whose counts by delay next() returns one
// after the other.
template <class Next>
double quantile(double q, uint64_t total, Next next) {
  if (total == 0) return undefined;
  const auto rank = static_cast<uint64_t>(q * static_cast<double>(total));  // as in Perl
  uint64_t below = 0;
  size_t delay = 0;
  while ((below += next()) <= rank) ++delay;
  return static_cast<double>(delay);
}

}  // namespace

JsonWriter& write_metrics(JsonWriter& json, const Metrics& metrics) {
  return json.field("throughput_mbps", metrics.throughput_mbps)
      .field("capacity_mbps", metrics.capacity_mbps)
      .field("utilization", metrics.utilization)
      .field("queueing_delay_p95_ms", metrics.queueing_delay_p95_ms)
      .field("signal_delay_p50_ms", metrics.signal_delay_p50_ms)
      .field("signal_delay_p95_ms", metrics.signal_delay_p95_ms)
      .field("power", metrics.power);
}

void Meter::start() {
  first_departures_.clear();
  last_arrival_ms_ = -1;
  in_order_ = true;
  std::ranges::fill(packets_by_delay_, 0);
  departed_bytes_ = opportunities_ = 0;
  first_event_ms_ = never;
  last_event_ms_ = 0;
}

void Meter::make_room_for(size_t delay_ms) {
  packets_by_delay_.resize(2 * delay_ms + 1);
  delays_ = packets_by_delay_.size();
}

double Meter::queueing_delay_p95_ms() const {
  auto count = packets_by_delay_.begin();
  return quantile(0.95,
                  std::accumulate(packets_by_delay_.begin(), packets_by_delay_.end(), uint64_t{0}),
                  [&] { return *count++; });
}

void Meter::measure_signal_delay(Metrics& result) const {
  result.signal_delay_p50_ms = result.signal_delay_p95_ms = undefined;
  if (first_departures_.empty()) return;
  if (in_order_) return measure_signal_delay(first_departures_, result);
  auto departures = first_departures_;  // a queue let packets overtake each other
  std::ranges::stable_sort(departures, {}, &FirstDeparture::arrival_ms);
  const auto arrive_together = [](const FirstDeparture& one, const FirstDeparture& other) {
    return one.arrival_ms == other.arrival_ms;
  };
  departures.erase(std::unique(departures.begin(), departures.end(), arrive_together),
                   departures.end());
  measure_signal_delay(departures, result);
}

void Meter::measure_signal_delay(const std::vector<FirstDeparture>& departures,
                                 Metrics& result) const {
  // For each delay, the milliseconds that begin to have it minus those that cease to: one with an
  // arrival of delay d and the k without before it have d, d + 1, ..., d + k.
  std::vector<uint32_t> changes(delays_ + 1);
  int32_t last_ms = departures.front().arrival_ms - 1;
  for (const auto [arrival_ms, delay_ms] : departures) {
    const auto end_ms = static_cast<size_t>(delay_ms + arrival_ms - last_ms);
    if (end_ms >= changes.size()) changes.resize(2 * end_ms);
    ++changes[static_cast<size_t>(delay_ms)];
    --changes[end_ms];
    last_ms = arrival_ms;
  }
  const auto total_ms = static_cast<uint64_t>(last_ms - departures.front().arrival_ms + 1);
  const auto quantile_ms = [&](double q) {
    size_t delay_ms = 0;
    uint32_t count = 0;
    return quantile(q, total_ms, [&] { return count += changes[delay_ms++]; });
  };
  result.signal_delay_p50_ms = quantile_ms(0.5);
  result.signal_delay_p95_ms = quantile_ms(0.95);
}

Metrics Meter::metrics(std::optional<double> rate_mbps) const {
  Metrics result;
  const double duration_us = static_cast<double>(last_event_ms_ - first_event_ms_) * 1000;
  result.throughput_mbps = static_cast<double>(departed_bytes_) * 8 / duration_us;
  result.capacity_mbps =
      rate_mbps.value_or(static_cast<double>(opportunities_ * datagram_bytes) * 8 / duration_us);
  result.utilization = result.throughput_mbps / result.capacity_mbps;
  result.queueing_delay_p95_ms = queueing_delay_p95_ms();
  measure_signal_delay(result);
  result.power = result.throughput_mbps / (result.signal_delay_p95_ms / 1000);
  return result;
}

}  // namespace kneepoint
