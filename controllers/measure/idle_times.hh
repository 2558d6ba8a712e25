// When a link had nothing to carry, though its senders had more to send.
#pragma once

#include <vector>

#include "common/time.hh"

namespace kneepoint {

class IdleTimes {
 public:
  struct Span {
    Milliseconds from_ms;
    Milliseconds to_ms;
  };

  // Shorter idle times are not reported: Linux's minimum retransmission timeout (net/tcp.h,
  // TCP_RTO_MIN).
  static constexpr Milliseconds min_ms = 200;

  // The next packet to depart arrived at this time.
  void arrived(Milliseconds arrival_ms) {
    if (arrival_ms - last_departure_ms_ >= min_ms) [[unlikely]]
      resumed(arrival_ms);
  }
  // Calls come in the order of time.
  void departed(Milliseconds departure_ms) { last_departure_ms_ = departure_ms; }

  // Spans from a departure until the next arrival.
  const std::vector<Span>& spans() const { return spans_; }
  Milliseconds first_arrival_ms() const { return first_arrival_ms_; }
  Milliseconds last_departure_ms() const { return last_departure_ms_; }

 private:
  void resumed(Milliseconds arrival_ms) {
    if (last_departure_ms_ < 0) {
      first_arrival_ms_ = arrival_ms;
    } else {
      spans_.push_back({last_departure_ms_, arrival_ms});
    }
  }

  std::vector<Span> spans_{};
  Milliseconds first_arrival_ms_ = -1;
  Milliseconds last_departure_ms_ = -min_ms;
};

}  // namespace kneepoint
