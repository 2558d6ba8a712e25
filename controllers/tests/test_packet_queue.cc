#include "queues/registry.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;

namespace {

Packet datagram(uint64_t number) { return {.sequence_number = number}; }

// A packet of an ECN-capable transport.
Packet capable(uint64_t number) { return {.sequence_number = number, .ecn = Ecn::capable}; }

uint64_t fill(PacketQueue& queue, uint64_t count, Milliseconds now_ms = 0) {
  for (uint64_t i = 0; i < count; ++i) queue.enqueue(datagram(i), 1000 * now_ms);
  return queue.take_drops().packets;
}

}  // namespace

TEST(droptail_drops_arrivals_at_a_full_queue) {
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

// At 12.032 Mbit/s the tokens of a datagram arrive in a millisecond; the bucket holds three
// datagrams.
TEST(a_policer_passes_a_burst_and_then_a_rate) {
  const auto queue = make_packet_queue("policer:rate_mbps=12.032,burst=4512", 0);
  EXPECT_EQUAL(fill(*queue, 5), 2u);
  EXPECT_EQUAL(fill(*queue, 2, 1), 1u);
  queue->enqueue(datagram(0), 1999);
  EXPECT_EQUAL(queue->take_drops().packets, 1u);  // 1 us too early; a drop takes no tokens
  EXPECT_EQUAL(fill(*queue, 1, 2), 0u);
  EXPECT_EQUAL(fill(*queue, 5, 1000), 2u);  // the bucket holds at most a burst
  EXPECT_EQUAL(queue->packets(), 8u);
  EXPECT_EQUAL(queue->dequeue(1'000'000)->sequence_number, 0u);
  // The bucket counts bytes, not packets.
  const auto mixed = make_packet_queue("policer:rate_mbps=1,burst=1504", 0);
  const Packet small{.bytes = 752};
  for (int i = 0; i < 3; ++i) mixed->enqueue(small, 0);
  EXPECT_EQUAL(mixed->take_drops().packets, 1u);
}

TEST(a_policer_may_stand_before_a_finite_buffer) {
  const auto queue = make_packet_queue("policer:rate_mbps=12.032,burst=15040,packets=2", 0);
  EXPECT_EQUAL(fill(*queue, 5), 3u);
  // Packets that the buffer dropped took no tokens: eight are left.
  for (int i = 0; i < 2; ++i) queue->dequeue(0);
  uint64_t passed = 0;
  for (int i = 0; i < 10; ++i) {
    passed += 1 - fill(*queue, 1);
    queue->dequeue(0);
  }
  EXPECT_EQUAL(passed, 8u);
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

// A packet enters and a packet leaves each millisecond, with a standing queue of 50 ms: the first
// drop is an interval after the delay was first above the target, the second an interval later, the
// third interval / sqrt(2) later (RFC 8289, section 3.3).
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

// Quantum 1000: in each turn flow 1 sends two packets of 500 bytes. Flow 0, with packets of 1504
// bytes, has a deficit of 1000 in its first turn and waits, sends a packet from 2000 in the second,
// has 1496 in the third and waits, sends a packet from 2496 in the fourth, and, alone by then, a
// packet from 1992 in the fifth.
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

// Three packets in each class: a packet that arrives at a full class is lost, even if another class
// has room.
TEST(drr_has_a_drop_tail_limit_for_each_class) {
  const auto queue = make_packet_queue("drr:packets=3,classes=2,per_class=1", 0);
  queue->classify({0, 0, 1});
  for (uint64_t i = 0; i < 4; ++i) queue->enqueue({.sequence_number = i, .flow = i % 2 == 1}, 0);
  EXPECT_EQUAL(queue->take_drops().packets, 1u);  // the fourth of class 0
  for (uint64_t i = 4; i < 8; ++i) queue->enqueue({.sequence_number = i, .flow = 2}, 0);
  EXPECT_EQUAL(queue->take_drops().packets, 1u);
  EXPECT_EQUAL(queue->packets(), 6u);
  std::string order;
  while (const Packet* packet = queue->dequeue(0)) order += std::to_string(packet->sequence_number);
  EXPECT_EQUAL(order, "041526");
}

TEST(fq_codel_serves_new_flows_before_old_ones) {
  const auto queue = make_packet_queue("fq_codel:target=5,interval=100", 1);
  for (uint64_t i = 0; i < 10; ++i) queue->enqueue({.sequence_number = i, .flow = 0}, 0);
  EXPECT_EQUAL(queue->dequeue(0)->flow, 0);
  EXPECT_EQUAL(queue->dequeue(0)->flow, 0);  // a quantum of 1514 bytes is not spent
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

TEST(drr_shares_among_classes) {
  const auto queue = make_packet_queue("drr:packets=100,classes=2", 0);
  queue->classify({0, 0, 1});
  for (uint64_t i = 0; i < 3; ++i) {
    for (const uint16_t flow : {uint16_t{0}, uint16_t{1}, uint16_t{2}})
      queue->enqueue({.sequence_number = i, .flow = flow}, 0);
  }
  std::string order;
  while (const Packet* packet = queue->dequeue(0)) order += std::to_string(packet->flow);
  EXPECT_EQUAL(order, "021202101");  // flow 2 is alone in its class
}

// The times of the drops above, by the same control law.
TEST(codel_marks_in_place_of_dropping) {
  const auto queue = make_packet_queue("codel:target=5,interval=100,ecn=1", 0);
  for (uint64_t i = 0; i < 50; ++i) queue->enqueue(capable(i), 0);
  std::vector<Milliseconds> mark_times_ms;
  for (Milliseconds t = 1; t < 300; ++t) {
    queue->enqueue(capable(0), 1000 * t);
    if (queue->dequeue(1000 * t)->ecn == Ecn::congestion_experienced) mark_times_ms.push_back(t);
  }
  EXPECT_EQUAL(mark_times_ms == (std::vector<Milliseconds>{105, 205, 276}), true);
  EXPECT_EQUAL(queue->packets_marked(), 3u);
  EXPECT_EQUAL(queue->take_drops().packets, 0u);
}

TEST(packets_that_are_not_ecn_capable_are_dropped) {
  for (const bool is_capable : {false, true}) {
    for (const std::string ecn : {",ecn=0", ",ecn=1", ""}) {
      const auto drops = [&](const std::string& policy) {
        const auto queue = make_packet_queue(policy + ":target=5,interval=100" + ecn, 0);
        for (uint64_t i = 0; i < 20; ++i) queue->enqueue(is_capable ? capable(i) : datagram(i), 0);
        queue->dequeue(10'000);
        queue->dequeue(210'000);
        EXPECT_EQUAL(queue->packets_marked() + queue->take_drops().packets, 1u);
        return queue->packets_marked() == 0;
      };
      EXPECT_EQUAL(drops("codel"), not is_capable or ecn != ",ecn=1");
      EXPECT_EQUAL(drops("fq_codel"), not is_capable or ecn == ",ecn=0");  // RFC 8290, 5.2.6
    }
  }
}

// RFC 8033, section 4.1: a queue of at most two packets of mean size drops none; Linux takes two
// MTUs. A packet enters and leaves every 2 ms, with a standing queue.
TEST(pie_drops_no_small_packets_that_are_few_bytes) {
  const auto drops = [](int standing) {
    const auto queue = make_packet_queue("pie:qdelay_ref=20,max_burst=50", 1);
    const Packet small{.bytes = 80};
    for (int i = 0; i < standing; ++i) queue->enqueue(small, 0);
    uint64_t dropped = 0;
    for (Milliseconds t = 0; t < 10'000; t += 2) {
      queue->dequeue(1000 * t);
      queue->enqueue(small, 1000 * t);
      dropped += queue->take_drops().packets;
    }
    return dropped;
  };
  EXPECT_EQUAL(drops(38), 0u);  // 37 packets of 80 bytes wait
  EXPECT_EQUAL(drops(60) > 10, true);
}

// RFC 8033, section 5.1: PIE marks up to a probability of mark_ecnth and drops above it. A load of
// twice the link's capacity needs a probability of a half.
TEST(pie_marks_up_to_a_threshold) {
  const auto queue = make_packet_queue("pie:qdelay_ref=20,max_burst=50,ecn=1", 1);
  uint64_t marked_before_drops = 0;
  for (Milliseconds t = 0; t < 3000; ++t) {
    for (int i = 0; i < 2; ++i) queue->enqueue(capable(0), 1000 * t);
    queue->dequeue(1000 * t);
    if (not queue->has_drops()) marked_before_drops = queue->packets_marked();
  }
  EXPECT_EQUAL(marked_before_drops > 10, true);
  EXPECT_EQUAL(queue->packets_marked() - marked_before_drops < marked_before_drops, true);
  EXPECT_EQUAL(queue->take_drops().packets > 500, true);
  const auto patient = make_packet_queue("pie:qdelay_ref=20,max_burst=50,ecn=1,mark_ecnth=1", 1);
  for (Milliseconds t = 0; t < 3000; ++t) {
    patient->enqueue(capable(0), 1000 * t);
    patient->enqueue(capable(0), 1000 * t);
    patient->dequeue(1000 * t);
    if (patient->has_drops()) break;
  }
  EXPECT_EQUAL(patient->packets_marked() > 500, true);
}

// Weight 1/2, thresholds 1 and 3. The packets find 0, 1, 2, 3, 4 packets in the queue, so that the
// average is 0, 0.5, 1.25, 2.125, 3.0625: the fifth packet, above 3, is dropped.
TEST(red_drops_all_while_the_average_is_above_its_upper_threshold) {
  const std::string settings = "red:min=1,max=3,weight=0.5,max_p=1e-9,rate_mbps=12.032";
  const auto queue = make_packet_queue(settings, 0);
  EXPECT_EQUAL(fill(*queue, 4), 0u);
  EXPECT_EQUAL(fill(*queue, 1), 1u);
  while (queue->dequeue(0) != nullptr) {
  }
  // A packet takes 1 ms at 12.032 Mbit/s: an idle time of 1 ms halves the average.
  EXPECT_EQUAL(fill(*queue, 1, 0), 1u);
  EXPECT_EQUAL(fill(*queue, 1, 1), 0u);
  // Marks are for moderate congestion (RFC 3168, section 7).
  const auto marking = make_packet_queue(settings + ",ecn=1", 0);
  for (uint64_t i = 0; i < 5; ++i) marking->enqueue(capable(i), 0);
  EXPECT_EQUAL(marking->take_drops().packets, 1u);
  EXPECT_EQUAL(marking->packets_marked(), 0u);
}

// Gentle: from max to twice max the probability grows to 1; at 3.0625 it is 1/48. From 4.5 on it is
// a half or more, which drops every packet, because the spacing counts from the previously dropped
// packet.
TEST(red_can_be_gentle) {
  const auto drops = [](uint64_t seed, const std::string& option) {
    const auto queue = make_packet_queue("red:min=1,max=3,weight=0.5,max_p=1e-9" + option, seed);
    fill(*queue, 4);
    return fill(*queue, 1);
  };
  uint64_t gentle = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    EXPECT_EQUAL(drops(seed, ""), 1u);
    gentle += drops(seed, ",gentle=1");
  }
  EXPECT_NEAR(static_cast<double>(gentle) / 4000, 0.0625 / 3, 0.01);
  const auto full = make_packet_queue("red:min=1,max=3,weight=0.5,max_p=1e-9,gentle=1", 0);
  fill(*full, 1000);
  EXPECT_EQUAL(full->packets() == 5 or full->packets() == 6, true);
}

// The average stays at 10, half way from 5 to 15: with max_p 0.2 the probability is 0.1. By figure
// 2 of the paper, which counts the packet itself, one of the next 9 packets is picked, each with
// the same probability.
TEST(red_spreads_its_picks_evenly) {
  const auto queue = make_packet_queue("red:min=5,max=15,max_p=0.2,weight=0.5,ecn=1", 7);
  for (uint64_t i = 0; i < 10; ++i) queue->enqueue(capable(i), 0);
  std::vector<int> gaps(30);
  int gap = 0;
  uint64_t marked = queue->packets_marked();
  constexpr int packets = 55'000;
  for (int i = 0; i < packets; ++i) {
    queue->enqueue(capable(0), 0);
    queue->dequeue(0);
    ++gap;
    if (queue->packets_marked() == marked) continue;
    marked = queue->packets_marked();
    if (i > 1000) ++gaps[static_cast<size_t>(gap)];
    gap = 0;
  }
  for (size_t length = 1; length <= 9; ++length) EXPECT_NEAR(gaps[length], 1200, 120);
  for (size_t length = 10; length < gaps.size(); ++length) EXPECT_EQUAL(gaps[length], 0);
}

// mahimahi delivers the head and drops its successor; the next drops are 100 ms, 100 / sqrt(2) ms
// and 100 / sqrt(3) ms later, truncated to whole milliseconds.
TEST(mahimahis_codel_drops_the_second_packet) {
  const auto queue = make_packet_queue("codel-mahimahi:target=5,interval=100,packets=100", 0);
  fill(*queue, 20);
  const auto next = [&](Milliseconds t) {
    const Packet* const packet = queue->dequeue(1000 * t + 999);
    const uint64_t dropped = queue->take_drops().packets;
    return std::to_string(packet->sequence_number) + (dropped > 0 ? "!" : "");
  };
  EXPECT_EQUAL(next(10), "0");
  EXPECT_EQUAL(next(109), "1");
  EXPECT_EQUAL(next(110), "2!");  // 3 was dropped
  EXPECT_EQUAL(next(110), "4");
  EXPECT_EQUAL(next(209), "5");
  EXPECT_EQUAL(next(210), "6!");
  EXPECT_EQUAL(next(279), "8");
  EXPECT_EQUAL(next(280), "9!");
  EXPECT_EQUAL(next(336), "11");
  EXPECT_EQUAL(next(337), "12!");
  EXPECT_EQUAL(next(338), "14");
}

// A packet enters and a packet leaves each millisecond, with `waiting` packets in the queue. Until
// 31 ms, when the first update is due, 11 packets have left in 10 ms and 11 in 11 ms: a rate of
// 1654, then 1654 - 206 + 188 = 1636 bytes per ms. 66 packets then are 60 ms, and the probability
// is (40 / 8 + 60 * 5 / 4) / 128 = 0.625; 104 packets are 95 ms, and the probability is above 1.
// RFC 8033 would move by 1/2048 of this step.
TEST(mahimahis_pie_takes_large_steps) {
  const auto dropped_at_31_ms = [](const std::string& policy, uint64_t waiting, uint64_t seed) {
    const auto queue = make_packet_queue(policy + ":qdelay_ref=20,max_burst=1,packets=1000", seed);
    fill(*queue, waiting);
    for (Milliseconds t = 1; t <= 30; ++t) {
      queue->enqueue(datagram(0), 1000 * t);
      queue->dequeue(1000 * t);
    }
    EXPECT_EQUAL(queue->has_drops(), false);
    return fill(*queue, 1, 31);
  };
  double drops = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    drops += static_cast<double>(dropped_at_31_ms("pie-mahimahi", 66, seed));
    EXPECT_EQUAL(dropped_at_31_ms("pie-mahimahi", 104, seed), 1u);
    EXPECT_EQUAL(dropped_at_31_ms("pie", 104, seed), 0u);
  }
  EXPECT_NEAR(drops / 4000, 0.625, 0.025);
}

TEST(queue_descriptions_are_checked) {
  const auto make = [](const std::string& description) {
    return [description] { make_packet_queue(description, 0); };
  };
  expect_refused(make("fifo"), "is unknown; known: abc, codel, ");
  expect_refused(make("droptail"), "needs packets=NUMBER or bytes=NUMBER");
  expect_refused(make("droptail:packets"), "is not NAME=VALUE");
  expect_refused(make("droptail:packets=0"), "packets 0 is outside");
  expect_refused(make("droptail:packets=1.5"), "is not a whole number");
  expect_refused(make("droptail:packets=1,packets=2"), "given twice");
  expect_refused(make("droptail:packets=1,target=2"),
                 "has no parameter target; it has: packets bytes");
  expect_refused(make("codel:target=5"), "needs interval=NUMBER");
  expect_refused(make("pie:qdelay_ref=5"), "needs max_burst=NUMBER");
  expect_refused(make("pie:qdelay_ref=5,max_burst=5,ecn=2"), "ecn 2 is outside [0, 1]");
  expect_refused(make("policer:rate_mbps=5"), "policer needs burst=NUMBER");
  expect_refused(make("policer:rate_mbps=0,burst=1504"), "rate_mbps must be above 0");
  expect_refused(make("policer:rate_mbps=5,burst=1500"), "burst 1500 is outside");
  expect_refused(make("red:min=5"), "red needs max=NUMBER");
  expect_refused(make("red:min=5,max=5"), "min must be below max");
  expect_refused(make("red:min=5,max=15,max_p=1.5"), "max_p 1.5 is outside [0, 1]");
  expect_refused(make("red:min=5,max=15,weight=0"), "weight must be above 0");
  expect_refused(make("codel-mahimahi:target=5,interval=100"), "needs packets=NUMBER or bytes=");
  expect_refused(make("drr:packets=5,classes=2000"), "classes 2000 is outside [1, 1000]");
  expect_refused(make("drr:packets=5,per_class=2"), "per_class 2 is outside [0, 1]");
  expect_refused(make("drr:per_class=1"), "drr needs packets=NUMBER or bytes=NUMBER");
}
