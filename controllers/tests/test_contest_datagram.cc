// Datagrams of the contest kit, written by hand byte by byte.
#include <algorithm>
#include <vector>

#include "tests/check.hh"
#include "transport/contest_datagram.hh"

using namespace kneepoint;

namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

const std::vector<std::byte> data_bytes = bytes({
    0,    0,    0,    0,    0,    0,    1,    2,     // sequence number 258
    0,    0,    0,    0,    0,    1,    0,    5,     // sent at 65541 ms
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  // no acknowledgment: four fields of ones
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  //
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  //
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  //
});

const std::vector<std::byte> ack_bytes = bytes({
    0, 0, 0, 0, 0, 0, 0,    7,     // the receiver's own sequence number
    0, 0, 0, 0, 0, 0, 0x20, 0,     // sent at 8192 ms of the receiver's clock
    0, 0, 0, 0, 0, 0, 1,    2,     // acknowledges 258
    0, 0, 0, 0, 0, 1, 0,    5,     // sent at 65541 ms
    0, 0, 0, 0, 0, 0, 0x20, 0,     // received at 8192 ms
    0, 0, 0, 0, 0, 0, 5,    0x90,  // with 1424 bytes of payload
});

}  // namespace

TEST(data_datagram_byte_by_byte) {
  const ContestHeader header{.sequence_number = 258, .send_timestamp = 65541};
  EXPECT_EQUAL(header.is_ack(), false);
  EXPECT_EQUAL(std::ranges::equal(header.encode(), data_bytes), true);
}

TEST(acknowledgment_byte_by_byte) {
  const auto data = ContestHeader::decode(data_bytes);
  EXPECT_EQUAL(data.has_value(), true);
  const ContestHeader ack = acknowledge(*data, 7, 8192, contest_payload_bytes);
  EXPECT_EQUAL(ack.is_ack(), true);
  EXPECT_EQUAL(std::ranges::equal(ack.encode(), ack_bytes), true);
  EXPECT_EQUAL(ContestHeader::decode(ack_bytes)->ack_payload_length, 1424u);
}

TEST(an_acknowledgment_of_a_sent_datagram_is_valid) {
  const auto ack = to_ack(*ContestHeader::decode(ack_bytes), 259, 65600);
  EXPECT_EQUAL(ack.sequence_number, 258u);
  EXPECT_EQUAL(ack.rtt_ms(), 65600 - 65541);
  EXPECT_EQUAL(ack.received_ms, 8192);
}

TEST(an_impossible_acknowledgment_is_the_receivers_failure) {
  const ContestHeader good = *ContestHeader::decode(ack_bytes);
  const auto is_ack = [](ContestHeader header, uint64_t ContestHeader::* field, uint64_t value) {
    header.*field = value;
    try {
      to_ack(header, 259, 65600);
      return true;
    } catch (const ReceiverFailure&) {
      return false;
    }
  };
  constexpr uint64_t epoch_ms = 1'500'000'000'000;  // a receiver whose clock is Unix time
  EXPECT_EQUAL(is_ack(good, &ContestHeader::ack_recv_timestamp, epoch_ms), true);
  EXPECT_EQUAL(is_ack(good, &ContestHeader::ack_send_timestamp, 65600), true);
  EXPECT_EQUAL(is_ack(good, &ContestHeader::ack_send_timestamp, 65601), false);
  EXPECT_EQUAL(is_ack(good, &ContestHeader::ack_sequence_number, 259), false);
  for (const uint64_t huge : {uint64_t{1} << 63, (uint64_t{1} << 63) - 1, ContestHeader::none}) {
    EXPECT_EQUAL(is_ack(good, &ContestHeader::ack_send_timestamp, huge), false);
    EXPECT_EQUAL(is_ack(good, &ContestHeader::ack_recv_timestamp, huge), false);
    EXPECT_EQUAL(is_ack(good, &ContestHeader::ack_sequence_number, huge), false);
  }
}

TEST(a_datagram_shorter_than_a_header_is_invalid) {
  EXPECT_EQUAL(ContestHeader::decode(std::span(data_bytes).first(47)).has_value(), false);
  EXPECT_EQUAL(ContestHeader::decode({}).has_value(), false);
}
