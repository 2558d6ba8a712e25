#include "network/contest_datagram.hh"

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

}  // namespace kneepoint
