// The metrics of a run, computed from a link's events as in mm-throughput-graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/json.hh"
#include "common/time.hh"

namespace kneepoint {

struct Metrics {
  double throughput_mbps = 0;
  double capacity_mbps = 0;
  double utilization = 0;
  // Undefined (NaN) when no packet departed.
  double queueing_delay_p95_ms = 0;
  double signal_delay_p50_ms = 0;
  double signal_delay_p95_ms = 0;
  double power = 0;  // Mbit/s per second of signal delay
};

// As fields of a JSON object that has been begun.
JsonWriter& write_metrics(JsonWriter& json, const Metrics& metrics);

// Gathers the events of one link, in any number of runs one after the other.
class Meter {
 public:
  // Forgets all; the blocks of memory stay.
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
    // The first departure of those that arrived together has the least delay.
    if (arrival_ms != last_arrival_ms_) {
      in_order_ = in_order_ and arrival_ms > last_arrival_ms_;
      last_arrival_ms_ = arrival_ms;
      first_departures_.push_back({stamp(arrival_ms), static_cast<int32_t>(delay_ms)});
    }
    if (delay_ms >= delays_) [[unlikely]]
      make_room_for(delay_ms);
    ++packets_by_delay_[delay_ms];
  }

  // Throughput and capacity: bits over the time from the first event to the last.
  // Quantile q: element floor(q n) of the sorted delays.
  // Signal delay: for each millisecond in which a packet arrived, the least delay of these packets;
  // for one without, value(t) = value(t + 1) + 1; from the first to the last arrival that departed.
  // It is the age of the newest information at the far end of the link.
  // The capacity is that of the opportunities, or, of a link of constant rate, the rate.
  Metrics metrics(std::optional<double> rate_mbps = {}) const;

  // Keeps the memory constant, however long the run is: takes it for granted that no more packets
  // depart that arrived before `settled_ms()`, which is far behind.
  void settle();
  Milliseconds settled_ms() const { return signal_.last_ms; }

 private:
  // Of packets that arrived in one millisecond and departed in a row, the first.
  struct FirstDeparture {
    int32_t arrival_ms;
    int32_t delay_ms;
  };

  // How many milliseconds have which signal delay.
  struct SignalDelay {
    void add(std::span<const FirstDeparture> departures);
    double quantile_ms(double q) const;

    // For each delay, the milliseconds that begin to have it minus those that cease to.
    std::vector<uint32_t> changes{};
    int32_t first_ms = -1;  // the first arrival
    int32_t last_ms = -1;
  };

  void make_room_for(size_t delay_ms);
  double queueing_delay_p95_ms() const;
  std::vector<FirstDeparture> sorted_departures() const;

  SignalDelay signal_{};                            // of departures that are settled
  std::vector<FirstDeparture> first_departures_{};  // the others
  Milliseconds last_arrival_ms_ = -1;               // of those
  bool in_order_ = true;                            // the arrivals of those
  std::vector<uint32_t> packets_by_delay_{};        // by delay in ms
  size_t delays_ = 0;                               // how many packets_by_delay_ has room for
  uint64_t departed_bytes_ = 0;
  uint64_t opportunities_ = 0;
  Milliseconds first_event_ms_ = never;
  Milliseconds last_event_ms_ = 0;
};

}  // namespace kneepoint
