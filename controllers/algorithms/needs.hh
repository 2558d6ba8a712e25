// Needs of a rule that only some transports meet. Their sum is the last argument of its
// Registration.
#pragma once

#include <cstdint>

#include "algorithms/interface.h"

namespace kneepoint::needs {

inline constexpr uint32_t none = 0;
inline constexpr uint32_t receiver_clock = KNEEPOINT_NEEDS_RECEIVER_CLOCK;
inline constexpr uint32_t timeouts = KNEEPOINT_NEEDS_TIMEOUTS;
inline constexpr uint32_t marks = KNEEPOINT_NEEDS_MARKS;
inline constexpr uint32_t counted_marks = KNEEPOINT_NEEDS_COUNTED_MARKS;
inline constexpr uint32_t heartbeats = KNEEPOINT_NEEDS_HEARTBEATS;

}  // namespace kneepoint::needs
