#include "transport/contest_datagram.hh"

#include <algorithm>
#include <string>

namespace kneepoint {

namespace {

constexpr size_t number_bytes = 8;

void write_number(std::span<std::byte> place, uint64_t number) {
  for (size_t i = number_bytes; i-- > 0; number >>= 8) place[i] = static_cast<std::byte>(number);
}

uint64_t read_number(std::span<const std::byte> place) {
  uint64_t number = 0;
  for (size_t i = 0; i < number_bytes; ++i)
    number = number << 8 | std::to_integer<uint8_t>(place[i]);
  return number;
}

constexpr std::array fields{
    &ContestHeader::sequence_number,     &ContestHeader::send_timestamp,
    &ContestHeader::ack_sequence_number, &ContestHeader::ack_send_timestamp,
    &ContestHeader::ack_recv_timestamp,  &ContestHeader::ack_payload_length};
static_assert(fields.size() * number_bytes == ContestHeader::bytes);

}  // namespace

std::array<std::byte, ContestHeader::bytes> ContestHeader::encode() const {
  std::array<std::byte, bytes> text;
  for (size_t i = 0; i < fields.size(); ++i) {
    write_number(std::span(text).subspan(i * number_bytes, number_bytes), this->*fields[i]);
  }
  return text;
}

std::optional<ContestHeader> ContestHeader::decode(std::span<const std::byte> datagram) {
  if (datagram.size() < bytes) return std::nullopt;
  ContestHeader header;
  for (size_t i = 0; i < fields.size(); ++i) {
    header.*fields[i] = read_number(datagram.subspan(i * number_bytes, number_bytes));
  }
  return header;
}

ContestHeader acknowledge(const ContestHeader& data, uint64_t sequence_number,
                          uint64_t receive_timestamp, size_t payload_length) {
  return {.sequence_number = sequence_number,
          .send_timestamp = receive_timestamp,
          .ack_sequence_number = data.sequence_number,
          .ack_send_timestamp = data.send_timestamp,
          .ack_recv_timestamp = receive_timestamp,
          .ack_payload_length = payload_length};
}

Ack to_ack(const ContestHeader& header, uint64_t packets_sent, int64_t now_ms) {
  constexpr uint64_t latest_ms = uint64_t{1} << 53;
  const auto require = [](bool holds, const char* what, uint64_t value, const char* why) {
    if (not holds) {
      throw ReceiverFailure("the receiver acknowledged a datagram " + std::string(what) + " " +
                            std::to_string(value) + ", " + why);
    }
  };
  require(header.ack_sequence_number < packets_sent, "of number", header.ack_sequence_number,
          "which was never sent");
  require(header.ack_send_timestamp <= static_cast<uint64_t>(std::max<int64_t>(now_ms, 0)),
          "sent at", header.ack_send_timestamp,
          "which is later than now (or this clock was set back)");
  require(header.ack_recv_timestamp <= latest_ms, "received at", header.ack_recv_timestamp,
          "which no clock shows");
  return {.sequence_number = header.ack_sequence_number,
          .sent_ms = static_cast<int64_t>(header.ack_send_timestamp),
          .received_ms = static_cast<int64_t>(header.ack_recv_timestamp),
          .ack_received_ms = now_ms};
}

}  // namespace kneepoint
