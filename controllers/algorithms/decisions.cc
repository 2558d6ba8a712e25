#include "algorithms/decisions.hh"

#include <algorithm>

#include "network/text.hh"

namespace kneepoint {

uint64_t whole_window(const Controller& controller) {
  const double window = controller.window();
  if (not(window >= 0 and window <= static_cast<double>(widest_window_packets))) {
    throw ControllerFailure(
        "the window became " + to_text(window) + " packets; it must stay in [0, " +
        std::to_string(widest_window_packets) + "], for the packets in flight are held in memory");
  }
  return static_cast<uint64_t>(window);
}

int64_t whole_keepalive_ms(const Controller& controller) {
  constexpr double longest_ms = 1e9;
  const double keepalive_ms = controller.keepalive_ms();
  if (not(keepalive_ms >= 1)) {
    throw ControllerFailure("the keepalive became " + to_text(keepalive_ms) +
                            " ms; it must be at least 1");
  }
  return static_cast<int64_t>(std::min(keepalive_ms, longest_ms));
}

}  // namespace kneepoint
