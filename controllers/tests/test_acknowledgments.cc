// What acknowledgments tell controllers, the same on every transport.
#include <cstddef>
#include <vector>

#include "algorithms/adapter.hh"
#include "tests/check.hh"
#include "tests/opened.hh"
#include "tests/running.hh"
#include "transport/contest_sender.hh"

using namespace kneepoint;
using kneepoint::test::Halving;
using kneepoint::test::handle_of;
using kneepoint::test::Opened;

TEST(datagrams_tell_rtt_flight_and_what_is_delivered) {
  Halving controller;
  ContestSender sender(0, handle_of(controller), nullptr);
  sender.start(0);
  for (const Microseconds now_us : {1'000, 2'000, 3'000, 4'000}) sender.sent(now_us);
  const auto acknowledge = [&](uint64_t number, Milliseconds sent_ms, Microseconds now_us) {
    sender.acknowledged(number, now_us, now_us + 70, [&] {
      return Ack{.sequence_number = number,
                 .sent_ms = sent_ms,
                 .received_ms = 0,
                 .ack_received_ms = whole_ms(now_us)};
    });
  };
  acknowledge(0, 1, 41'200);
  EXPECT_EQUAL(controller.acks.back().now_us, 41'270);
  EXPECT_EQUAL(controller.acks.back().measured_rtt_us, 40'000);
  EXPECT_EQUAL(controller.acks.back().flight, 3u);
  EXPECT_EQUAL(controller.acks.back().delivered, 1u);
  acknowledge(2, 3, 45'900);  // 1 is lost
  EXPECT_EQUAL(controller.acks.back().measured_rtt_us, 42'000);
  EXPECT_EQUAL(controller.acks.back().flight, 1u);
  EXPECT_EQUAL(controller.acks.back().delivered, 2u);
  // What older controllers read stays as it was.
  EXPECT_EQUAL(controller.acks.back().rtt_us, -1);
  EXPECT_EQUAL(controller.acks.back().in_flight, 0u);
}

TEST(tcp_tells_rtt_flight_and_what_is_delivered) {
  Opened t;
  EXPECT_EQUAL(t.send(100'000), "0 1 2 3 4 5 6 7 8 9 ");
  t.acknowledge(2, {}, 200'123);
  EXPECT_EQUAL(t.controller.acks.back().measured_rtt_us, 100'123);
  EXPECT_EQUAL(t.controller.acks.back().flight, 8u);
  EXPECT_EQUAL(t.controller.acks.back().delivered, 2u);
  for (uint64_t end = 4; end <= 6; ++end) t.acknowledge(2, {{3, end}}, 201'000);
  t.acknowledge(3, {{4, 6}}, 202'000);
  // 0 to 2 by number, 4 and 5 by SACK; 3 was sacked and then is not: it stays so until it is
  // passed.
  EXPECT_EQUAL(t.controller.acks.back().delivered, 6u);
  EXPECT_EQUAL(t.controller.acks.back().flight, t.controller.acks.back().in_flight);
}

TEST(tcp_without_sack_counts_duplicates_of_a_recovery_as_delivered) {
  Opened t({.sack = false});
  t.send(100'000);
  t.acknowledge(1, {}, 200'000);
  for (int i = 0; i < 3; ++i) t.acknowledge(1, {}, 201'000);
  t.acknowledge(2, {}, 300'000);
  EXPECT_EQUAL(t.controller.acks.back().delivered, 5u);  // 0, 1 and what made three duplicates
}

TEST(a_program_that_appends_less_to_an_acknowledgment_is_understood) {
  Halving controller;
  const kneepoint_interface calls = Adapter<Halving>::calls();
  kneepoint_ack ack{};
  ack.now_us = 5;
  ack.acknowledged = 2;
  ack.measured_rtt_us = 7;
  ack.delivered = 9;
  ack.marked = 1;
  ack.is_buffer_limited = 1;
  for (const size_t size :
       {offsetof(kneepoint_ack, now_us), offsetof(kneepoint_ack, measured_rtt_us),
        offsetof(kneepoint_ack, marked), offsetof(kneepoint_ack, is_buffer_limited),
        sizeof(kneepoint_ack)}) {
    ack.size = size;
    EXPECT_EQUAL(calls.on_ack(&controller, &ack), 0);
  }
  EXPECT_EQUAL(controller.acks[0].now_us, 0);
  EXPECT_EQUAL(controller.acks[0].acknowledged, 1u);
  EXPECT_EQUAL(controller.acks[1].now_us, 5);
  EXPECT_EQUAL(controller.acks[1].acknowledged, 2u);
  EXPECT_EQUAL(controller.acks[1].measured_rtt_us, -1);
  EXPECT_EQUAL(controller.acks[1].delivered, 0u);
  EXPECT_EQUAL(controller.acks[2].measured_rtt_us, 7);
  EXPECT_EQUAL(controller.acks[2].delivered, 9u);
  EXPECT_EQUAL(controller.acks[2].marked, 0u);
  EXPECT_EQUAL(controller.acks[3].delivered, 9u);
  EXPECT_EQUAL(controller.acks[3].marked, 1u);
  EXPECT_EQUAL(controller.acks[3].is_buffer_limited, false);
  EXPECT_EQUAL(controller.acks[4].is_buffer_limited, true);
}
