// The fields of acknowledgments that controllers receive, the same on every transport.
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

TEST(datagrams_report_rtt_flight_and_deliveries) {
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
  EXPECT_EQUAL(controller.acks.back().rtt_us, 40'000);
  EXPECT_EQUAL(controller.acks.back().in_flight, 3u);
  EXPECT_EQUAL(controller.acks.back().delivered, 1u);
  acknowledge(2, 3, 45'900);  // packet 1 is lost
  EXPECT_EQUAL(controller.acks.back().rtt_us, 42'000);
  EXPECT_EQUAL(controller.acks.back().in_flight, 1u);
  EXPECT_EQUAL(controller.acks.back().delivered, 2u);
}

TEST(tcp_reports_rtt_flight_and_deliveries) {
  Opened t;
  EXPECT_EQUAL(t.send(100'000), "0 1 2 3 4 5 6 7 8 9 ");
  t.acknowledge(2, {}, 200'123);
  EXPECT_EQUAL(t.controller.acks.back().rtt_us, 100'123);
  EXPECT_EQUAL(t.controller.acks.back().in_flight, 8u);
  EXPECT_EQUAL(t.controller.acks.back().delivered, 2u);
  for (uint64_t end = 4; end <= 6; ++end) t.acknowledge(2, {{3, end}}, 201'000);
  t.acknowledge(3, {{4, 6}}, 202'000);
  // 0 to 2 by the cumulative acknowledgment, 4 and 5 by SACK. A later SACK omits 3: it stays sacked
  // until it is acknowledged cumulatively.
  EXPECT_EQUAL(t.controller.acks.back().delivered, 6u);
  EXPECT_EQUAL(t.controller.acks.back().in_flight, 4u);
}

TEST(tcp_without_sack_counts_duplicates_of_a_recovery_as_delivered) {
  Opened t({.sack = false});
  t.send(100'000);
  t.acknowledge(1, {}, 200'000);
  for (int i = 0; i < 3; ++i) t.acknowledge(1, {}, 201'000);
  t.acknowledge(2, {}, 300'000);
  EXPECT_EQUAL(t.controller.acks.back().delivered, 5u);  // 0, 1 and three duplicates
}

TEST(tcp_reports_whether_the_window_bounds_the_flight) {
  Opened endless;
  endless.send(100'000);
  endless.acknowledge(2, {}, 200'000);
  EXPECT_EQUAL(endless.controller.acks.back().is_cwnd_limited, true);
  Opened last({}, 10);  // as many segments as the window
  last.send(100'000);
  last.acknowledge(2, {}, 200'000);
  EXPECT_EQUAL(last.controller.acks.back().is_cwnd_limited, true);
  last.acknowledge(4, {}, 200'000);
  EXPECT_EQUAL(last.controller.acks.back().is_cwnd_limited, false);
  Opened few({}, 9);
  few.send(100'000);
  few.acknowledge(2, {}, 200'000);
  EXPECT_EQUAL(few.controller.acks.back().is_cwnd_limited, false);
  Opened narrow({.send_buffer_bytes = 5 * 1448});
  narrow.send(100'000);
  narrow.acknowledge(2, {}, 200'000);
  EXPECT_EQUAL(narrow.controller.acks.back().is_cwnd_limited, false);
}
