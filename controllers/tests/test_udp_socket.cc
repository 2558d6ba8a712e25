#include <array>
#include <cstddef>

#include "realtime/scheduling_delays.hh"
#include "realtime/udp_socket.hh"
#include "tests/check.hh"

using namespace kneepoint;

TEST(subnet_contains_addresses_with_its_first_bits) {
  const Subnet shared = Subnet::parse("100.64.0.0/10");
  EXPECT_EQUAL(shared.contains(resolve("100.64.0.1", 1)), true);
  EXPECT_EQUAL(shared.contains(resolve("100.127.255.255", 1)), true);
  EXPECT_EQUAL(shared.contains(resolve("100.128.0.0", 1)), false);
  EXPECT_EQUAL(shared.contains(resolve("127.0.0.1", 1)), false);
  EXPECT_EQUAL(Subnet::parse("127.0.0.1/32").contains(resolve("127.0.0.1", 9)), true);
  EXPECT_EQUAL(Subnet::parse("127.0.0.1/32").contains(resolve("127.0.0.2", 9)), false);
  EXPECT_EQUAL(Subnet{}.contains(resolve("192.0.2.1", 9)), true);
}

TEST(an_invalid_subnet_is_refused) {
  test::expect_refused([] { Subnet::parse("100.64.0.0"); }, "is not like");
  test::expect_refused([] { Subnet::parse("100.64.0/10"); }, "is not like");
  test::expect_refused([] { Subnet::parse("100.64.0.0/33"); }, "bits 33 is outside");
}

TEST(a_free_port_is_found_and_a_taken_one_refused) {
  UdpSocket first;
  first.bind(resolve("127.0.0.1", 0));
  UdpSocket second;
  test::expect_refused([&] { second.bind(resolve("127.0.0.1", first.port())); }, "is taken");
}

TEST(a_datagram_arrives_with_the_time_of_the_kernel) {
  UdpSocket receiver;
  receiver.bind(resolve("127.0.0.1", 0));
  UdpSocket sender;
  sender.connect(resolve("127.0.0.1", receiver.port()));
  const Microseconds before_us = system_time_us();
  const std::array<std::byte, 3> datagram{};
  EXPECT_EQUAL(sender.send(datagram), true);
  EXPECT_EQUAL(receiver.wait(false, 1'000'000).readable, true);
  std::array<std::byte, 10> buffer;
  const auto received = receiver.receive(buffer);
  EXPECT_EQUAL(received.has_value(), true);
  EXPECT_EQUAL(received->bytes, 3u);
  EXPECT_EQUAL(received->time_us >= before_us and received->time_us <= system_time_us(), true);
  EXPECT_EQUAL(receiver.receive(buffer).has_value(), false);
}

TEST(scheduling_delays_are_ranked_and_given_by_their_rarity) {
  SchedulingDelays delays;
  EXPECT_EQUAL(delays.p99_us(), 0);
  EXPECT_EQUAL(delays.by_rarity_us().empty(), true);
  for (Microseconds delay_us = 10; delay_us > 0; --delay_us) delays.add(1000, 1000 + delay_us);
  // Of ten delays all reach 1 us, five reach 6, two (a quarter of ten) reach 9, and one reaches 10.
  EXPECT_EQUAL(delays.by_rarity_us() == (std::vector<double>{1, 6, 9, 10}), true);
  for (Microseconds delay_us = 200; delay_us > 10; --delay_us) delays.add(1000, 1000 + delay_us);
  EXPECT_EQUAL(delays.p99_us(), 199);  // element floor(0.99 * 200) = 198, counted from 0
  delays.add(1000, 900);               // the clock was set back
  EXPECT_EQUAL(delays.by_rarity_us().front(), 0);
}
