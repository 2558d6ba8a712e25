// The arrivals in each tick of the receiver's clock, derived from acknowledgments, as Sprout's
// receiver counts them (Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "algorithms/controller.hh"

namespace kneepoint {

class ReceiverTicks {
 public:
  static constexpr int64_t tick_ms = 20;

  // Calls tick(packets, is_busy) for each tick that ended before this packet arrived. The link was
  // busy during the whole tick if each packet can have entered the queue before the packet ahead of
  // it left; if not, the link could have delivered more.
  template <class Tick>
  void add(const Ack& ack, const Tick& tick) {
    min_way_ms_ = std::min(min_way_ms_, ack.received_ms - ack.sent_ms);
    const int64_t due_ms = ack.sent_ms + min_way_ms_;  // without a queue
    const int64_t end_ms = ack.received_ms / tick_ms * tick_ms;
    if (begin_ms_ < 0) begin_ms_ = end_ms;
    begin_ms_ = std::max(begin_ms_, end_ms - longest_ms_);  // a receiver's clock may jump
    for (; begin_ms_ < end_ms; begin_ms_ += tick_ms) {
      const bool has_waited = due_ms <= begin_ms_ + tick_ms;
      tick(packets_, is_busy_ and has_waited);
      is_busy_ = has_waited;
      packets_ = 0;
    }
    is_busy_ = is_busy_ and due_ms <= std::max(begin_ms_, last_ms_);
    last_ms_ = ack.received_ms;
    ++packets_;
  }

 private:
  static constexpr int64_t longest_ms_ = 60'000;

  int64_t begin_ms_ = -1;
  int64_t min_way_ms_ = std::numeric_limits<int64_t>::max();  // includes the clocks' offset
  uint64_t packets_ = 0;
  bool is_busy_ = false;
  int64_t last_ms_ = 0;
};

// The packets that may leave until the next forecast. A forecast at the end of a tick counts from
// the first packet that is not acknowledged at this time.
class Allowance {
 public:
  void hear(const Ack& ack) {
    next_ = std::max(next_, static_cast<double>(ack.sequence_number + 1));
  }
  void forecast(double packets) { end_ = next_ + packets; }
  double packets() const { return std::max(end_ - next_, 0.0); }

 private:
  double next_ = 0;  // the first packet that is not acknowledged
  double end_ = 0;   // the first that may not be sent yet
};

}  // namespace kneepoint
