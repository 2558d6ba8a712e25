#include "measure/metrics.hh"

#include <algorithm>
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
  signal_ = {};
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

std::vector<Meter::FirstDeparture> Meter::sorted_departures() const {
  auto departures = first_departures_;
  std::ranges::stable_sort(departures, {}, &FirstDeparture::arrival_ms);
  const auto arrive_together = [](const FirstDeparture& one, const FirstDeparture& other) {
    return one.arrival_ms == other.arrival_ms;
  };
  departures.erase(std::unique(departures.begin(), departures.end(), arrive_together),
                   departures.end());
  return departures;
}

void Meter::settle() {
  static constexpr size_t most = 1 << 18;
  if (first_departures_.size() < most) return;
  if (not in_order_) first_departures_ = sorted_departures();
  const auto half = first_departures_.begin() + most / 2;
  if (first_departures_.end() <= half) return;
  signal_.add({first_departures_.begin(), half});
  first_departures_.erase(first_departures_.begin(), half);
}

// An arrival of delay d, and the k milliseconds without one before it, have d, d + 1, ..., d + k.
void Meter::SignalDelay::add(std::span<const FirstDeparture> departures) {
  if (departures.empty()) return;
  if (first_ms < 0) {
    first_ms = departures.front().arrival_ms;
    last_ms = first_ms - 1;
  }
  for (const auto [arrival_ms, delay_ms] : departures) {
    if (arrival_ms == last_ms) continue;  // its first departure is settled
    const auto end_ms = static_cast<size_t>(delay_ms + arrival_ms - last_ms);
    if (end_ms >= changes.size()) changes.resize(2 * end_ms);
    ++changes[static_cast<size_t>(delay_ms)];
    --changes[end_ms];
    last_ms = arrival_ms;
  }
}

double Meter::SignalDelay::quantile_ms(double q) const {
  if (first_ms < 0) return undefined;
  size_t delay_ms = 0;
  uint32_t count = 0;
  return quantile(q, static_cast<uint64_t>(last_ms - first_ms + 1),
                  [&] { return count += changes[delay_ms++]; });
}

Metrics Meter::metrics(std::optional<double> rate_mbps) const {
  Metrics result;
  const double duration_us = static_cast<double>(last_event_ms_ - first_event_ms_) * 1000;
  result.throughput_mbps = static_cast<double>(departed_bytes_) * 8 / duration_us;
  result.capacity_mbps =
      rate_mbps.value_or(static_cast<double>(opportunities_ * datagram_bytes) * 8 / duration_us);
  result.utilization = result.throughput_mbps / result.capacity_mbps;
  result.queueing_delay_p95_ms = queueing_delay_p95_ms();
  SignalDelay signal = signal_;
  if (in_order_) {
    signal.add(first_departures_);
  } else {
    signal.add(sorted_departures());  // a queue let packets overtake each other
  }
  result.signal_delay_p50_ms = signal.quantile_ms(0.5);
  result.signal_delay_p95_ms = signal.quantile_ms(0.95);
  result.power = result.throughput_mbps / (result.signal_delay_p95_ms / 1000);
  return result;
}

}  // namespace kneepoint
