// What a controller decides, as its sender may follow it.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "algorithms/controller.hh"

namespace kneepoint {

// A run that ends because its controller misbehaved.
class ControllerFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Packets in flight are a run's memory: in the emulator 40 bytes each until they have left the
// sender and 32 in the link's queue, in mm-link some 2 kB. With this many a run takes 130 MB,
// mm-link 2 GB.
constexpr uint64_t widest_window_packets = 1 << 20;

// The integer part of the window, and of the keepalive. Throw ControllerFailure for a window
// outside [0, widest_window_packets], a keepalive below 1, or what is no number.
uint64_t whole_window(const Controller& controller);
int64_t whole_keepalive_ms(const Controller& controller);

}  // namespace kneepoint
