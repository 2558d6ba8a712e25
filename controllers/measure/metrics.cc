#include "measure/metrics.hh"

#include <algorithm>
#include <limits>
#include <numeric>

#include "transport/packet.hh"

namespace kneepoint {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// Delays below this number of ms, four minutes, are counted in an array; longer delays are rare.
constexpr size_t max_short = 1 << 18;

// Truncated, as in mahimahi's scripts in Perl.
uint64_t rank_of(double q, uint64_t total) {
  return static_cast<uint64_t>(q * static_cast<double>(total));
}

}  // namespace

JsonWriter& write_metrics(JsonWriter& json, const Metrics& metrics) {
  return json.field("throughput_mbps", metrics.throughput_mbps)
      .field("capacity_mbps", metrics.capacity_mbps)
      .field("utilization", metrics.utilization)
      .field("queueing_delay_p95_ms", metrics.queueing_delay_p95_ms)
      .field("signal_delay_p50_ms", metrics.signal_delay_p50_ms)
      .field("signal_delay_p95_ms", metrics.signal_delay_p95_ms)
      .field("power", metrics.power)
      .field("age_p50_ms", metrics.age_p50_ms)
      .field("age_p95_ms", metrics.age_p95_ms);
}

void Meter::start() {
  signal_.clear();
  idle_times_ = {};
  end_ = first_departures_.data();
  last_arrival_ms_ = -1;
  in_order_ = true;
  waiting_since_us_ = {};
  std::ranges::fill(packets_by_delay_, 0);
  longer_delays_ms_.clear();
  departed_bytes_ = opportunities_ = 0;
  first_event_ms_ = never;
  last_event_ms_ = 0;
}

void Meter::make_room() {
  static constexpr size_t min = 64;
  static constexpr size_t max_unsettled = 1 << 18;
  if (departures().size() >= max_unsettled) settle();
  const size_t count = departures().size();
  if (count > first_departures_.size() / 2 or first_departures_.empty()) {
    first_departures_.resize(std::max(min, 2 * first_departures_.size()));
  }
  end_ = first_departures_.data() + count;
  block_end_ = first_departures_.data() + first_departures_.size();
}

void Meter::count_longer(size_t delay_ms) {
  if (delay_ms >= max_short) return longer_delays_ms_.add(delay_ms);
  packets_by_delay_.resize(std::min(2 * delay_ms + 1, max_short));
  delays_ = packets_by_delay_.size();
  ++packets_by_delay_[delay_ms];
}

double Meter::queueing_delay_p95_ms() const {
  const uint64_t shorter =
      std::accumulate(packets_by_delay_.begin(), packets_by_delay_.end(), uint64_t{0});
  const uint64_t total = shorter + longer_delays_ms_.total();
  if (total == 0) return undefined;
  const uint64_t rank = rank_of(0.95, total);
  if (rank >= shorter) return static_cast<double>(longer_delays_ms_.element(rank - shorter));
  size_t delay_ms = 0;
  for (uint64_t below = 0; (below += packets_by_delay_[delay_ms]) <= rank;) ++delay_ms;
  return static_cast<double>(delay_ms);
}

std::vector<FirstDeparture> Meter::sorted_departures() const {
  std::vector<FirstDeparture> sorted(departures().begin(), departures().end());
  std::ranges::stable_sort(sorted, {}, &FirstDeparture::arrival_ms);
  const auto arrive_together = [](const FirstDeparture& one, const FirstDeparture& other) {
    return one.arrival_ms == other.arrival_ms;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), arrive_together), sorted.end());
  return sorted;
}

void Meter::settle() {
  FirstDeparture* const begin = first_departures_.data();
  if (not in_order_) end_ = std::ranges::copy(sorted_departures(), begin).out;
  FirstDeparture* first_kept = begin + (end_ - begin) / 2;
  if (waiting_since_us_) {
    const Microseconds since_us = waiting_since_us_();
    first_kept = since_us == never ? end_
                                   : std::ranges::lower_bound(begin, end_, whole_ms(since_us), {},
                                                              &FirstDeparture::arrival_ms);
  }
  signal_.add({begin, first_kept});
  end_ = std::copy(first_kept, end_, begin);
}

void Meter::SignalDelay::clear() {
  std::ranges::fill(changes, 0);
  begin.clear();
  cease.clear();
  first_ms = last_ms = -1;
}

// Counts one millisecond for each delay from `begin_ms` on, up to but not including `end_ms`.
inline void Meter::SignalDelay::count(size_t begin_ms, size_t end_ms) {
  if (end_ms >= changes.size()) [[unlikely]]
    return count_longer(begin_ms, end_ms);
  ++changes[begin_ms];
  --changes[end_ms];
}

// An arrival of delay d, and the k milliseconds without an arrival before it, have the signal
// delays d, d + 1, ..., d + k.
void Meter::SignalDelay::add(std::span<const FirstDeparture> departures) {
  if (departures.empty()) return;
  if (first_ms < 0) {
    first_ms = departures.front().arrival_ms;
    first_delay_ms = departures.front().delay_ms;
    last_ms = first_ms - 1;
  }
  int32_t before_ms = last_ms;
  for (const auto [arrival_ms, delay_ms] : departures) {
    if (arrival_ms == before_ms) continue;  // its first departure is settled already
    count(static_cast<size_t>(delay_ms), static_cast<size_t>(delay_ms + arrival_ms - before_ms));
    before_ms = arrival_ms;
  }
  last_ms = before_ms;
}

void Meter::SignalDelay::extend(Milliseconds end_ms) {
  if (first_ms < 0) return;
  if (first_ms > 0) {
    count(static_cast<size_t>(first_delay_ms) + 1,
          static_cast<size_t>(first_delay_ms + first_ms) + 1);
    first_ms = 0;
  }
  const FirstDeparture end{stamp(end_ms), 0};
  if (end.arrival_ms > last_ms) add({&end, 1});
}

void Meter::SignalDelay::count_longer(size_t begin_ms, size_t end_ms) {
  changes.resize(std::min(2 * end_ms, max_short));
  if (begin_ms < changes.size()) {
    ++changes[begin_ms];
  } else {
    begin.add(begin_ms);
  }
  if (end_ms < changes.size()) {
    --changes[end_ms];
  } else {
    cease.add(end_ms);
  }
}

double Meter::SignalDelay::quantile_ms(double q) const {
  if (first_ms < 0) return undefined;
  const uint64_t rank = rank_of(q, static_cast<uint64_t>(last_ms - first_ms + 1));
  uint64_t below = 0;
  uint32_t count = 0;
  uint64_t delay_ms = 0;
  for (; delay_ms < changes.size(); ++delay_ms) {
    count += changes[delay_ms];
    below += count;
    if (below > rank) return static_cast<double>(delay_ms);
  }
  // Between two changes all delays have the same count.
  Counts::Walk begins(begin);
  Counts::Walk ceases(cease);
  while (true) {
    const uint64_t change_ms =
        begins.is_over() ? ceases.number() : std::min(begins.number(), ceases.number());
    if (below + count * (change_ms - delay_ms) > rank) {
      return static_cast<double>(delay_ms + (rank - below) / count);
    }
    below += count * (change_ms - delay_ms);
    delay_ms = change_ms;
    if (not begins.is_over() and begins.number() == change_ms) {
      count += static_cast<uint32_t>(begins.count());
      begins.advance();
    }
    if (ceases.number() == change_ms) {
      count -= static_cast<uint32_t>(ceases.count());
      ceases.advance();
    }
  }
}

Metrics Meter::metrics(std::optional<double> rate_mbps, Milliseconds end_ms) const {
  Metrics result;
  const double duration_us = static_cast<double>(last_event_ms_ - first_event_ms_) * 1000;
  result.throughput_mbps = static_cast<double>(departed_bytes_) * 8 / duration_us;
  result.capacity_mbps =
      rate_mbps.value_or(static_cast<double>(opportunities_ * datagram_bytes) * 8 / duration_us);
  result.utilization = result.throughput_mbps / result.capacity_mbps;
  result.queueing_delay_p95_ms = queueing_delay_p95_ms();
  SignalDelay signal = signal_;
  if (in_order_) {
    signal.add(departures());
  } else {
    signal.add(sorted_departures());  // a queue let packets overtake each other
  }
  result.signal_delay_p50_ms = signal.quantile_ms(0.5);
  result.signal_delay_p95_ms = signal.quantile_ms(0.95);
  result.power = result.throughput_mbps / (result.signal_delay_p95_ms / 1000);
  signal.extend(end_ms == never ? last_event_ms_ : end_ms);
  result.age_p50_ms = signal.quantile_ms(0.5);
  result.age_p95_ms = signal.quantile_ms(0.95);
  return result;
}

}  // namespace kneepoint
