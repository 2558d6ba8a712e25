// The datagrams of the public contest kit, byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>

#include "algorithms/controller.hh"

namespace kneepoint {

// The header of every datagram: six unsigned 64-bit numbers, big-endian, in this order. In a data
// datagram the four numbers of an acknowledgment have all bits set. Clocks count milliseconds from
// each program's own start.
struct ContestHeader {
  static constexpr uint64_t none = std::numeric_limits<uint64_t>::max();
  static constexpr size_t bytes = 48;

  uint64_t sequence_number = 0;
  uint64_t send_timestamp = 0;
  uint64_t ack_sequence_number = none;  // of the acknowledged datagram
  uint64_t ack_send_timestamp = none;   // when that datagram left, by its sender's clock
  uint64_t ack_recv_timestamp = none;   // when it arrived, by its receiver's clock
  uint64_t ack_payload_length = none;   // its payload, in bytes

  bool is_ack() const { return ack_sequence_number != none; }

  std::array<std::byte, bytes> encode() const;

  // Nothing if the datagram is too short for a header.
  static std::optional<ContestHeader> decode(std::span<const std::byte> datagram);
};

// The payload of a data datagram, after the header.
constexpr size_t contest_payload_bytes = 1424;

// The acknowledgment of a data datagram.
ContestHeader acknowledge(const ContestHeader& data, uint64_t sequence_number,
                          uint64_t receive_timestamp, size_t payload_length);

// The run failed because its receiver sent an impossible acknowledgment.
class ReceiverFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The event of an acknowledgment that a sender of `packets_sent` packets receives at `now_ms` of
// its own clock. Throws ReceiverFailure unless the acknowledged packet is one of these, sent no
// later than now. A receiver's clock may count from the Unix epoch, but shows no more than 2^53 ms.
Ack to_ack(const ContestHeader& header, uint64_t packets_sent, int64_t now_ms);

}  // namespace kneepoint
