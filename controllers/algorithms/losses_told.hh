// How many packets each acknowledgment tells to be lost. Timers tell none.
#pragma once

#include <cstdint>
#include <utility>

#include "algorithms/controller.hh"

namespace kneepoint {

class LossesTold {
 public:
  void on_loss(const Loss& loss) {
    has_timed_out_ = has_timed_out_ or loss.kind == Loss::Kind::timed_out;
  }
  double on_ack(const Ack& ack) {
    // An acknowledgment out of order corrects what one before it told.
    const uint64_t before = std::exchange(lost_, ack.lost);
    const bool has_timed_out = std::exchange(has_timed_out_, false);
    return has_timed_out or ack.lost < before ? 0 : static_cast<double>(ack.lost - before);
  }

 private:
  uint64_t lost_ = 0;
  bool has_timed_out_ = false;
};

}  // namespace kneepoint
