// When a link had nothing to carry, though its senders had more to send.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// Of packets that arrived in one millisecond and departed in a row, the first.
struct FirstDeparture {
  int32_t arrival_ms;
  int32_t delay_ms;
};

class IdleTimes {
 public:
  struct Span {
    Milliseconds from_ms;
    Milliseconds to_ms;
  };

  // Shorter ones are not told: Linux's least retransmission timeout (net/tcp.h, TCP_RTO_MIN).
  static constexpr Milliseconds least_ms = 200;

  // In the order of arrival, with one departure at least before the last of them.
  void add(std::span<const FirstDeparture> departures) {
    // A stretch of arrivals that is shorter as a whole holds none.
    constexpr size_t stretch = 16;
    for (size_t begin = 0; begin < departures.size(); begin += stretch) {
      const auto part = departures.subspan(begin, std::min(stretch, departures.size() - begin));
      if (last_ms_ < 0 or part.back().arrival_ms - last_arrival_ms_ >= least_ms) look_into(part);
      last_arrival_ms_ = part.back().arrival_ms;
      last_ms_ = std::max(last_ms_, last_arrival_ms_ + part.back().delay_ms);
    }
  }

  // From a departure until the next arrival.
  const std::vector<Span>& spans() const { return spans_; }
  Milliseconds first_arrival_ms() const { return first_arrival_ms_; }
  Milliseconds last_departure_ms() const { return last_ms_; }

 private:
  void look_into(std::span<const FirstDeparture> departures) {
    for (const auto [arrival_ms, delay_ms] : departures) {
      if (last_ms_ < 0) {
        first_arrival_ms_ = arrival_ms;
      } else if (arrival_ms - last_ms_ >= least_ms) {
        spans_.push_back({last_ms_, arrival_ms});
      }
      last_ms_ = std::max<Milliseconds>(last_ms_, arrival_ms + delay_ms);
    }
  }

  std::vector<Span> spans_{};
  Milliseconds first_arrival_ms_ = -1;
  Milliseconds last_arrival_ms_ = -1;
  Milliseconds last_ms_ = -1;  // the last departure
};

}  // namespace kneepoint
