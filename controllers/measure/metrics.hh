// The metrics of a run, computed from a link's events as in mm-throughput-graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/json.hh"
#include "common/time.hh"
#include "measure/counts.hh"
#include "measure/idle_times.hh"

namespace kneepoint {

// The first of the packets that arrived in one millisecond and departed in a row.
struct FirstDeparture {
  int32_t arrival_ms;
  int32_t delay_ms;
};

struct Metrics {
  double throughput_mbps = 0;
  double capacity_mbps = 0;
  double utilization = 0;
  // Undefined (NaN) when no packet departed.
  double queueing_delay_p95_ms = 0;
  double signal_delay_p50_ms = 0;
  double signal_delay_p95_ms = 0;
  double power = 0;  // Mbit/s per second of signal delay
  // The signal delay from the run's start to its end.
  double age_p50_ms = 0;
  double age_p95_ms = 0;
};

// Writes the metrics as fields of a JSON object that has been begun.
JsonWriter& write_metrics(JsonWriter& json, const Metrics& metrics);

// Gathers the events of one link, in any number of runs one after the other.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // Forgets all events, but keeps the allocated memory.
  void start();

  void opportunities(uint64_t count) { opportunities_ += count; }
  void event(Milliseconds time_ms) {
    if (time_ms < first_event_ms_) first_event_ms_ = time_ms;
    if (time_ms > last_event_ms_) last_event_ms_ = time_ms;
  }
  // Departures come in the order of time.
  [[gnu::always_inline]] void departure(Milliseconds arrival_ms, Milliseconds departure_ms,
                                        uint32_t bytes) {
    const auto delay_ms = static_cast<size_t>(departure_ms - arrival_ms);
    departed_bytes_ += bytes;
    // The first departure of packets that arrived together has the minimum delay.
    if (arrival_ms != last_arrival_ms_) {
      if (arrival_ms < last_arrival_ms_) [[unlikely]]
        in_order_ = false;
      last_arrival_ms_ = arrival_ms;
      idle_times_.arrived(arrival_ms);
      if (end_ == block_end_) [[unlikely]]
        make_room();
      *end_++ = {stamp(arrival_ms), static_cast<int32_t>(delay_ms)};
    }
    idle_times_.departed(departure_ms);
    if (delay_ms >= delays_) [[unlikely]] {
      count_longer(delay_ms);
    } else {
      ++packets_by_delay_[delay_ms];
    }
  }

  // Throughput and capacity: bits over the time from the first event to the last. Quantile q:
  // element floor(q n) of the sorted delays. Signal delay: for each millisecond in which a packet
  // arrived, the minimum delay of these packets; for a millisecond without an arrival, value(t) =
  // value(t + 1) + 1; from the first to the last arrival of a departed packet. It is the age of the
  // newest information at the far end of the link. Age: the signal delay of every millisecond from
  // the run's start to its end, as if a packet arrived and departed at the end, so that silence
  // counts. Without `end_ms` the last event is the end. The capacity is the capacity of the
  // opportunities or, for a link of constant rate, the rate.
  Metrics metrics(std::optional<double> rate_mbps = {}, Milliseconds end_ms = never) const;

  // Idle times between the departed packets.
  const IdleTimes& idle_times() const { return idle_times_; }

  // Returns when the packet that has waited longest joined the queue, or never if no packet waits.
  // Departures of earlier arrivals can then be summed up, and memory stays constant, however long
  // the run is. Without this function, no packet may depart that has been overtaken by a hundred
  // thousand packets: its arrival would precede settled_ms().
  using Waiting = std::function<Microseconds()>;
  void know_waiting(Waiting since_us) { waiting_since_us_ = std::move(since_us); }
  Milliseconds settled_ms() const { return signal_.last_ms; }

 private:
  // The number of milliseconds with each signal delay.
  struct SignalDelay {
    void clear();
    void add(std::span<const FirstDeparture> departures);
    // Extends the signal from the run's start, 0 ms, to `end_ms`.
    void extend(Milliseconds end_ms);
    double quantile_ms(double q) const;

    // For each delay, the number of ranges of delays that begin at it minus the number that end
    // before it.
    std::vector<uint32_t> changes{};
    Counts begin{};  // begins of ranges at longer delays
    Counts cease{};
    int32_t first_ms = -1;  // the first arrival
    int32_t first_delay_ms = 0;
    int32_t last_ms = -1;

   private:
    void count(size_t begin_ms, size_t end_ms);
    void count_longer(size_t begin_ms, size_t end_ms);
  };

  void make_room();
  void settle();
  void count_longer(size_t delay_ms);
  double queueing_delay_p95_ms() const;
  std::span<const FirstDeparture> departures() const { return {first_departures_.data(), end_}; }
  std::vector<FirstDeparture> sorted_departures() const;

  SignalDelay signal_{};  // of settled departures
  IdleTimes idle_times_{};
  std::vector<FirstDeparture> first_departures_{};  // room for the other departures
  FirstDeparture* end_ = nullptr;                   // of these
  FirstDeparture* block_end_ = nullptr;             // of the room
  Milliseconds last_arrival_ms_ = -1;               // of the last departure
  bool in_order_ = true;                            // arrivals so far
  Waiting waiting_since_us_{};
  std::vector<uint64_t> packets_by_delay_{};  // by delay in ms
  size_t delays_ = 0;                         // the size of packets_by_delay_
  Counts longer_delays_ms_{};
  uint64_t departed_bytes_ = 0;
  uint64_t opportunities_ = 0;
  Milliseconds first_event_ms_ = never;
  Milliseconds last_event_ms_ = 0;
};

}  // namespace kneepoint
