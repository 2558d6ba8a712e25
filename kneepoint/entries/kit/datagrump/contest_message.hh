// A datagram of the contest: six big-endian numbers of 64 bits, and a payload.
#pragma once

#include <cstdint>
#include <string>

struct ContestMessage {
  // In an acknowledgment, values of the acknowledged datagram; otherwise 2^64 - 1.
  uint64_t sequence_number;
  uint64_t send_timestamp;
  uint64_t ack_sequence_number;
  uint64_t ack_send_timestamp;
  uint64_t ack_recv_timestamp;
  uint64_t ack_payload_length;
  std::string payload;

  // A datagram that leaves now.
  ContestMessage(uint64_t sequence_number, const std::string& payload);

  // A datagram that arrived. Throws std::runtime_error if it is too short for a header.
  explicit ContestMessage(const std::string& datagram);

  // The acknowledgment of this datagram, which arrived at a time in ms; the acknowledgment leaves
  // now.
  ContestMessage acknowledgment(uint64_t sequence_number, uint64_t received_ms) const;

  std::string to_string() const;
  bool is_ack() const;
};
