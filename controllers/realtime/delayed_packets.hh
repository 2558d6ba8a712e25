// Packets on a wire: each is released when the link has transmitted it and it has propagated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// The header of a packet, on the emulated link as well: 4 bytes of the TUN device.
constexpr size_t tun_header_bytes = 4;

// One direction of a wire behind a queue that releases a packet as its transmission begins. It adds
// the packet's own transmission time and the propagation delay. No packet overtakes another.
class DelayedPackets {
 public:
  // Args:
  //   us_per_byte: of the link's rate; 0: transmission takes no time.
  DelayedPackets(Microseconds delay_us, double us_per_byte)
      : delay_us_(delay_us), us_per_byte_(us_per_byte) {}

  void push(std::span<const std::byte> packet, Microseconds now_us) {
    const double transmission_us =
        static_cast<double>(packet.size() + tun_header_bytes) * us_per_byte_;
    last_us_ = std::max(last_us_, now_us + static_cast<Microseconds>(transmission_us) + delay_us_);
    waiting_.push_back({last_us_, {packet.begin(), packet.end()}});
  }

  Microseconds next_us() const { return waiting_.empty() ? never : waiting_.front().release_us; }

  // The next packet; there must be one.
  std::vector<std::byte> pop() {
    std::vector<std::byte> bytes = std::move(waiting_.front().bytes);
    waiting_.pop_front();
    return bytes;
  }

 private:
  struct Waiting {
    Microseconds release_us;
    std::vector<std::byte> bytes;
  };

  Microseconds delay_us_;
  double us_per_byte_;
  Microseconds last_us_ = 0;
  std::deque<Waiting> waiting_{};
};

}  // namespace kneepoint
