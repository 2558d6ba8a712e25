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

// RFC 8289: 20 packets that stay above the target: none is dropped at 2 targets, exactly one at
// 2 targets and 2 intervals, and none more in the same instant.
TEST(codel_drops_one_packet_in_an_instant) {
  const auto queue = make_packet_queue("codel:target=5,interval=100", 0);
  fill(*queue, 20);
  queue->dequeue(10'000);
  EXPECT_EQUAL(queue->take_drops().packets, 0u);
  queue->dequeue(210'000);
  EXPECT_EQUAL(queue->take_drops().packets, 1u);
  queue->dequeue(210'000);
  EXPECT_EQUAL(queue->take_drops().packets, 0u);
}

// Quantum 1000: in a turn flow 1 sends two packets of 500. Flow 0, with packets of 1504, has 1000
// in its first turn and waits, sends one of 2000 in the second, has 1496 in the third and waits,
// sends one of 2496 in the fourth, and, alone by then, one of 1992 in the fifth.
TEST(drr_shares_bytes_and_not_packets) {
  const auto queue = make_packet_queue("drr:packets=100,quantum=1000", 0);
  for (uint64_t i = 0; i < 3; ++i) queue->enqueue({.sequence_number = i, .flow = 0}, 0);
  for (uint64_t i = 0; i < 6; ++i) {
    queue->enqueue({.sequence_number = i, .bytes = 500, .flow = 1}, 0);
  }
  std::string order;
  while (const Packet* packet = queue->dequeue(0)) order += std::to_string(packet->flow);
  EXPECT_EQUAL(order, "110111100");
}

TEST(drr_drops_from_the_longest_queue) {
  const auto queue = make_packet_queue("drr:packets=4", 0);
  for (uint64_t i = 0; i < 4; ++i) queue->enqueue({.sequence_number = i, .flow = 0}, 0);
  queue->enqueue({.sequence_number = 7, .flow = 1}, 0);
  EXPECT_EQUAL(queue->take_drops().packets, 1u);
  EXPECT_EQUAL(queue->dequeue(0)->sequence_number, 1u);
  EXPECT_EQUAL(queue->dequeue(0)->flow, 1);
}

TEST(fq_codel_serves_new_flows_before_old_ones) {
  const auto queue = make_packet_queue("fq_codel:target=5,interval=100", 1);
  for (uint64_t i = 0; i < 10; ++i) queue->enqueue({.sequence_number = i, .flow = 0}, 0);
  EXPECT_EQUAL(queue->dequeue(0)->flow, 0);
  EXPECT_EQUAL(queue->dequeue(0)->flow, 0);  // 1514 bytes: its deficit was not spent
  queue->enqueue({.sequence_number = 0, .flow = 1}, 1000);
  EXPECT_EQUAL(queue->dequeue(1000)->flow, 1);
  EXPECT_EQUAL(queue->dequeue(1000)->flow, 0);
}

TEST(fq_codel_drops_from_the_fattest_flow_at_its_head) {
  const auto queue = make_packet_queue("fq_codel:target=5,interval=100,packets=4", 1);
  for (uint64_t i = 0; i < 4; ++i) queue->enqueue({.sequence_number = i, .flow = 0}, 0);
  queue->enqueue({.sequence_number = 0, .flow = 1}, 0);
  EXPECT_EQUAL(queue->take_drops().packets, 1u);
  EXPECT_EQUAL(queue->dequeue(0)->sequence_number, 1u);
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
