// How late a program reads its datagrams: what the host's scheduler adds to the network.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "network/time.hh"

namespace kneepoint {

// Times from the kernel's receipt of a datagram to its reading.
class ReadDelays {
 public:
  void add(Microseconds received_us, Microseconds read_us) {
    // The clock may be set back in between.
    delays_us_.push_back(static_cast<uint32_t>(std::max<Microseconds>(0, read_us - received_us)));
  }
  // Element floor(0.99 n) of the sorted delays, and the greatest; 0 without any.
  double p99_us() { return nth(delays_us_.size() * 99 / 100); }
  double max_us() { return delays_us_.empty() ? 0 : nth(delays_us_.size() - 1); }

 private:
  double nth(size_t n) {
    if (delays_us_.empty()) return 0;
    std::ranges::nth_element(delays_us_, delays_us_.begin() + static_cast<std::ptrdiff_t>(n));
    return delays_us_[n];
  }

  std::vector<uint32_t> delays_us_{};
};

}  // namespace kneepoint
