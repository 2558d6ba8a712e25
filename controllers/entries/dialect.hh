// The datagrams of one kind of contest kit, as its receiver sees them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// The first bytes of a datagram: all of it that is not padding.
using DatagramHeader = std::array<std::byte, 48>;

struct Dialect {
  const char* name;
  size_t datagram_bytes;        // of every data datagram, without IP and UDP
  size_t acknowledgment_bytes;  // likewise
  bool dates;  // whether the receiver's clock counts from the epoch, not from its first datagram
};

// The receiver's acknowledgment of a datagram that arrives at `received_ms` of its own clock.
DatagramHeader acknowledge(const DatagramHeader& datagram, uint64_t number,
                           Milliseconds received_ms);

// Throws std::invalid_argument for an unknown name.
const Dialect& find_dialect(const std::string& name);

std::vector<std::string> dialect_names();

}  // namespace kneepoint
