// The contest kit's receiver, without I/O: it acknowledges every datagram.
#pragma once

#include <cstdint>

#include "common/time.hh"

namespace kneepoint {

class ContestReceiver {
 public:
  // The content of an acknowledgment, besides what it repeats of its datagram.
  struct Acknowledgment {
    uint64_t sequence_number;  // its own: acknowledgments are also numbered
    Milliseconds received_ms;  // receiver's clock when the datagram arrived
  };

  // A datagram arrives.
  Acknowledgment answer(Microseconds now_us) { return {packets_received_++, whole_ms(now_us)}; }

  uint64_t packets_received() const { return packets_received_; }

 private:
  uint64_t packets_received_ = 0;
};

}  // namespace kneepoint
