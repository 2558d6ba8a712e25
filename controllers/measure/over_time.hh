// A link's traffic over time, in constant memory: sums over intervals, whose length doubles when
// there are too many.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/json.hh"
#include "common/time.hh"

namespace kneepoint {

class OverTime {
 public:
  struct Interval {
    uint64_t capacity_bytes = 0;
    uint64_t ingress_bytes = 0;
    uint64_t egress_bytes = 0;
    int64_t more_packets = 0;        // growth of the queue in the interval, by its events
    int64_t more_that_departed = 0;  // the same, only of packets that departed later
    double delay_ms = std::numeric_limits<double>::quiet_NaN();  // the greatest
  };

  // The interval of a time since the beginning.
  Interval& at(Milliseconds time_ms) {
    const auto place = static_cast<size_t>(std::max<Milliseconds>(time_ms, 0) / interval_ms_);
    if (place < intervals_.size()) [[likely]]
      return intervals_[place];
    if (place < max) {
      intervals_.resize(place + 1);
      return intervals_[place];
    }
    halve();
    return at(time_ms);
  }

  void departure(Milliseconds arrival_ms, Milliseconds time_ms, uint64_t bytes, double delay_ms) {
    ++at(arrival_ms).more_that_departed;
    Interval& now = at(time_ms);
    now.egress_bytes += bytes;
    now.delay_ms = std::fmax(now.delay_ms, delay_ms);
    --now.more_packets;
    --now.more_that_departed;
  }

  // Writes a field of a JSON object that has been begun: for each interval the rates, the greatest
  // delay of the packets that departed in it, and the packets in the queue at its end. If drops are
  // unknown, packets that never departed do not count.
  void write(JsonWriter& json, bool has_drops) const;

 private:
  static constexpr size_t max = 4096;

  void halve();

  std::vector<Interval> intervals_{};
  Milliseconds interval_ms_ = 1;
};

}  // namespace kneepoint
