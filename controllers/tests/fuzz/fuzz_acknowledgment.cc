// Any datagrams may reach a sender: its controller receives only possible acknowledgments. An input
// is hexadecimal, so that seeds can be read. The first byte chooses the controller; each further 50
// bytes are a time that the sender waits (2 bytes, in ms) and a datagram.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/require.hh"
#include "tests/running.hh"
#include "transport/contest_datagram.hh"
#include "transport/contest_sender.hh"

using namespace kneepoint;

namespace {

// The bytes of any text; characters other than hexadecimal digits are skipped.
std::vector<std::byte> bytes_of(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::vector<std::byte> bytes;
  size_t count = 0;
  for (const char c : text) {
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) continue;
    if (count++ % 2 == 0) {
      bytes.push_back(static_cast<std::byte>(digit << 4));
    } else {
      bytes.back() |= static_cast<std::byte>(digit);
    }
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = bytes_of(std::string_view(reinterpret_cast<const char*>(data), size));
  if (bytes.empty()) return 0;
  static const std::vector<std::string> names = Controllers::names();
  const auto controller =
      test::make_controller(names[std::to_integer<size_t>(bytes[0]) % names.size()]);
  std::span<const std::byte> rest = std::span(bytes).subspan(1);
  ContestSender sender(0, controller, nullptr);
  sender.start(0);
  int64_t now_ms = 0;
  while (rest.size() > 2) {
    now_ms += std::to_integer<int64_t>(rest[0]) << 8 | std::to_integer<int64_t>(rest[1]);
    const size_t length = std::min(rest.size() - 2, ContestHeader::bytes);
    const auto header = ContestHeader::decode(rest.subspan(2, length));
    rest = rest.subspan(2 + length);
    if (now_ms * 1000 >= sender.idle_deadline_us()) sender.keepalive(now_ms * 1000);
    sender.sent(now_ms * 1000);
    if (not header or not header->is_ack()) continue;
    const ContestHeader again = *ContestHeader::decode(header->encode());
    fuzz::require(again.ack_send_timestamp == header->ack_send_timestamp);
    try {
      const Ack ack = to_ack(*header, sender.packets_sent(), now_ms);
      fuzz::require(ack.sequence_number < sender.packets_sent());
      fuzz::require(ack.rtt_ms() >= 0 and ack.rtt_ms() <= now_ms);
      sender.acknowledged(ack.sequence_number, now_ms * 1000, now_ms * 1000, [&] { return ack; });
    } catch (const ReceiverFailure&) {
      break;
    }
    fuzz::require(controller->window() >= 0);
    fuzz::require(controller->keepalive_ms() >= 1);
  }
  return 0;
}
