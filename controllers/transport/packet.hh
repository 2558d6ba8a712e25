// A packet: a datagram of a flow, or an acknowledgment.
#pragma once

#include <cstdint>

#include "common/time.hh"

namespace kneepoint {

// Sizes on the link: 48 bytes of header, 1424 of payload, 28 of IP and UDP, 4 of TUN.
constexpr uint16_t datagram_bytes = 1504;
constexpr uint16_t acknowledgment_bytes = 80;

// Explicit congestion notification, RFC 3168, section 5; `counted` is ECT(1), of a transport whose
// acknowledgments count marks (RFC 9331).
enum class Ecn : uint8_t { not_capable, capable, congestion_experienced, counted };

// Clocks in 32 bits of milliseconds (24 days), so that a packet fills half a cache line.
struct Packet {
  uint64_t sequence_number = 0;
  Microseconds queued_us = 0;  // when it joined the queue that holds it
  int32_t sent_ms = 0;         // sender's clock when the datagram left
  int32_t received_ms = 0;     // receiver's clock when it arrived (in acknowledgments)
  uint16_t bytes = datagram_bytes;
  uint16_t flow = 0;
  uint16_t sent_rest_us = 0;  // beyond sent_ms, if the transport knows it
  bool is_syn : 1 = false;
  bool is_request : 1 = false;   // of a client, or its acknowledgment
  bool has_reduced : 1 = false;  // CWR: its sender has been notified of a mark
  bool tells_mark : 1 = false;   // in an acknowledgment: its datagram was marked
  Ecn ecn = Ecn::not_capable;
};
static_assert(sizeof(Packet) == 32);

inline Microseconds sent_us(const Packet& packet) {
  return int64_t{packet.sent_ms} * 1000 + packet.sent_rest_us;
}

}  // namespace kneepoint
