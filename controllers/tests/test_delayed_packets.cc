#include <array>
#include <cstddef>
#include <span>

#include "realtime/delayed_packets.hh"
#include "tests/check.hh"

using namespace kneepoint;

namespace {

const std::array<std::byte, 1500> segment{};

// A packet of `length` bytes.
std::span<const std::byte> packet(size_t length) { return std::span(segment).first(length); }

}  // namespace

TEST(a_wire_adds_the_packets_own_transmission_and_the_propagation) {
  DelayedPackets wire(10'000, 8 / 1.5);  // 10 ms, 1.5 Mbit/s
  EXPECT_EQUAL(wire.next_us(), never);
  wire.push(packet(84), 1000);  // an echo request: 88 bytes with TUN's 4 take 469.3 us
  EXPECT_EQUAL(wire.next_us(), 1000 + 469 + 10'000);
  EXPECT_EQUAL(wire.pop().size(), size_t{84});
  EXPECT_EQUAL(wire.next_us(), never);
  wire.push(packet(1500), 20'000);  // 1504 bytes: 8021.3 us
  EXPECT_EQUAL(wire.next_us(), 20'000 + 8021 + 10'000);
}

TEST(no_packet_overtakes_another_on_a_wire) {
  DelayedPackets wire(10'000, 8 / 1.5);
  wire.push(packet(1500), 0);
  wire.push(packet(84), 100);  // HTB releases it early after a late timer
  EXPECT_EQUAL(wire.next_us(), 18'021);
  EXPECT_EQUAL(wire.pop().size(), size_t{1500});
  EXPECT_EQUAL(wire.next_us(), 18'021);
  EXPECT_EQUAL(wire.pop().size(), size_t{84});
}
