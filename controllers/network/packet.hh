// What travels: a datagram of a flow, or the acknowledgment of one.
#pragma once

#include <cstdint>

#include "network/time.hh"

namespace kneepoint {

// Sizes on the link: 48 bytes of header, 1424 of payload, 28 of IP and UDP, 4 of TUN.
constexpr uint32_t datagram_bytes = 1504;
constexpr uint32_t acknowledgment_bytes = 80;

struct Packet {
  uint64_t sequence_number = 0;
  Milliseconds sent_ms = 0;      // sender's clock when the datagram left
  Milliseconds received_ms = 0;  // receiver's clock when it arrived (in acknowledgments)
  Milliseconds queued_ms = 0;    // link's clock when it joined the queue
  uint32_t bytes = datagram_bytes;
  uint32_t flow = 0;
};

}  // namespace kneepoint
