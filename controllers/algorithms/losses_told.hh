// How many packets each acknowledgment tells to be lost. Timers tell none. TCP's retransmissions
// hide those found since the acknowledgment before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "algorithms/controller.hh"

namespace kneepoint {

class LossesTold {
 public:
  void on_sent(uint64_t number) { sent_ = static_cast<double>(number + 1); }
  void on_loss(const Loss& loss) {
    has_timed_out_ = has_timed_out_ or loss.kind == Loss::Kind::timed_out;
  }
  double on_ack(const Ack& ack) {
    const double now = sent_ - static_cast<double>(ack.delivered) - static_cast<double>(ack.flight);
    const double lost = now - std::exchange(missing_, now);
    return std::exchange(has_timed_out_, false) ? 0 : std::max(lost, 0.0);
  }

 private:
  double sent_ = 0;
  double missing_ = 0;
  bool has_timed_out_ = false;
};

}  // namespace kneepoint
