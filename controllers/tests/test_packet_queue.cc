#include "queues/registry.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;

namespace {

Packet datagram(uint64_t number) { return {.sequence_number = number}; }

uint64_t fill(PacketQueue& queue, uint64_t count, Milliseconds now_ms = 0) {
  for (uint64_t i = 0; i < count; ++i) queue.enqueue(datagram(i), 1000 * now_ms);
  return queue.take_drops().packets;
}

}  // namespace

TEST(droptail_drops_what_arrives_at_a_full_queue) {
  const auto queue = make_packet_queue("droptail:packets=3", 0);
  EXPECT_EQUAL(fill(*queue, 5), 2u);
  EXPECT_EQUAL(queue->dequeue(0)->sequence_number, 0u);
  EXPECT_EQUAL(queue->bytes(), 2u * datagram_bytes);
}

TEST(droptail_limits_bytes) {
  const auto queue = make_packet_queue("droptail:bytes=4511", 0);
  EXPECT_EQUAL(fill(*queue, 3), 1u);
}

TEST(drophead_drops_the_oldest) {
  const auto queue = make_packet_queue("drophead:packets=3", 0);
  EXPECT_EQUAL(fill(*queue, 5), 2u);
  EXPECT_EQUAL(queue->dequeue(0)->sequence_number, 2u);
}

TEST(drops_are_reported_once) {
  const auto queue = make_packet_queue("droptail:packets=1", 0);
  EXPECT_EQUAL(fill(*queue, 2), 1u);
  EXPECT_EQUAL(queue->take_drops().packets, 0u);
}

TEST(codel_drops_nothing_below_its_target) {
  const auto queue = make_packet_queue("codel:target=5,interval=100", 0);
  for (Milliseconds t = 0; t < 1000; ++t) {
    queue->enqueue(datagram(0), 1000 * t);
    queue->enqueue(datagram(0), 1000 * t);
    EXPECT_EQUAL(queue->dequeue(1000 * (t + 4)) != nullptr, true);
    EXPECT_EQUAL(queue->dequeue(1000 * (t + 4)) != nullptr, true);
  }
  EXPECT_EQUAL(queue->take_drops().packets, 0u);
}

// One packet in, one out a millisecond, through a standing queue of 50 ms: the first drop comes
// an interval after the delay was first seen, the second interval later, the third interval /
// sqrt(2) after that (RFC 8289 section 3.3).
TEST(codel_drops_by_its_control_law) {
  const auto queue = make_packet_queue("codel:target=5,interval=100", 0);
  for (uint64_t i = 0; i < 50; ++i) queue->enqueue(datagram(i), 0);
  std::vector<Milliseconds> drop_times_ms;
  for (Milliseconds t = 1; t < 400; ++t) {
    queue->enqueue(datagram(0), 1000 * t);
    queue->dequeue(1000 * t);
    if (queue->take_drops().packets > 0) drop_times_ms.push_back(t);
  }
  EXPECT_EQUAL(drop_times_ms.size() >= 3, true);
  EXPECT_EQUAL(drop_times_ms[0], 105);
  EXPECT_EQUAL(drop_times_ms[1], 205);
  EXPECT_EQUAL(drop_times_ms[2], 276);
}

TEST(pie_drops_more_the_longer_the_delay_and_the_same_for_a_seed) {
  const auto drops = [](uint64_t seed, int packets_a_ms) {
    const auto queue = make_packet_queue("pie:qdelay_ref=20,max_burst=50", seed);
    for (Milliseconds t = 0; t < 3000; ++t) {
      for (int i = 0; i < packets_a_ms; ++i) queue->enqueue(datagram(0), 1000 * t);
      queue->dequeue(1000 * t);
    }
    return queue->take_drops().packets;
  };
  EXPECT_EQUAL(drops(1, 1), 0u);
  EXPECT_EQUAL(drops(1, 2) > 500, true);
  EXPECT_EQUAL(drops(1, 4) > drops(1, 2), true);
  EXPECT_EQUAL(drops(1, 2), drops(1, 2));
  EXPECT_EQUAL(drops(1, 2) == drops(2, 2), false);
}

TEST(queue_descriptions_are_checked) {
  const auto make = [](const std::string& description) {
    return [description] { make_packet_queue(description, 0); };
  };
  expect_refused(make("fifo"), "unknown policy");
  expect_refused(make("droptail"), "needs packets=NUMBER or bytes=NUMBER");
  expect_refused(make("droptail:packets"), "is not NAME=NUMBER");
  expect_refused(make("droptail:packets=0"), "must be at least 1");
  expect_refused(make("droptail:packets=-1"), "is not a whole number");
  expect_refused(make("droptail:packets=1,packets=2"), "given twice");
  expect_refused(make("droptail:packets=1,target=2"), "has no argument target");
  expect_refused(make("codel:target=5"), "needs interval=NUMBER");
  expect_refused(make("pie:qdelay_ref=5"), "needs max_burst=NUMBER");
}
