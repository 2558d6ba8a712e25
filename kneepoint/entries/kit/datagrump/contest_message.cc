#include "contest_message.hh"

#include <endian.h>

#include <cstring>
#include <stdexcept>

#include "timestamp.hh"

namespace {

constexpr uint64_t none = UINT64_MAX;
constexpr size_t number_size = sizeof(uint64_t);
constexpr size_t header_size = 6 * number_size;

uint64_t number_at(const std::string& datagram, size_t position) {
  uint64_t number;
  std::memcpy(&number, datagram.data() + position * number_size, number_size);
  return be64toh(number);
}

}  // namespace

ContestMessage::ContestMessage(uint64_t sequence, const std::string& content)
    : sequence_number(sequence),
      send_timestamp(timestamp_ms()),
      ack_sequence_number(none),
      ack_send_timestamp(none),
      ack_recv_timestamp(none),
      ack_payload_length(none),
      payload(content) {}

ContestMessage::ContestMessage(const std::string& datagram) : payload() {
  if (datagram.size() < header_size) throw std::runtime_error("a datagram without a header");
  sequence_number = number_at(datagram, 0);
  send_timestamp = number_at(datagram, 1);
  ack_sequence_number = number_at(datagram, 2);
  ack_send_timestamp = number_at(datagram, 3);
  ack_recv_timestamp = number_at(datagram, 4);
  ack_payload_length = number_at(datagram, 5);
  payload = datagram.substr(header_size);
}

ContestMessage ContestMessage::acknowledgment(uint64_t sequence, uint64_t received_ms) const {
  ContestMessage ack(sequence, "");
  ack.ack_sequence_number = sequence_number;
  ack.ack_send_timestamp = send_timestamp;
  ack.ack_recv_timestamp = received_ms;
  ack.ack_payload_length = payload.size();
  return ack;
}

std::string ContestMessage::to_string() const {
  std::string datagram;
  for (const uint64_t number : {sequence_number, send_timestamp, ack_sequence_number,
                                ack_send_timestamp, ack_recv_timestamp, ack_payload_length}) {
    const uint64_t wire = htobe64(number);
    datagram.append(reinterpret_cast<const char*>(&wire), number_size);
  }
  return datagram + payload;
}

bool ContestMessage::is_ack() const { return ack_sequence_number != none; }
