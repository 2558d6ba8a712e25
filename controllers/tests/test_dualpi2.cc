// DualPI2 (RFC 9332, appendix A) and Prague, its L4S sender
// (draft-briscoe-iccrg-prague-congestion-control).
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/check.hh"
#include "tests/clocked.hh"

#include "queues/registry.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;

namespace {

Packet packet(Ecn ecn) { return {.ecn = ecn}; }

// Enqueues `packets` packets and dequeues as many at once.
void pass(PacketQueue& queue, Ecn ecn, int packets, Microseconds now_us) {
  for (int i = 0; i < packets; ++i) queue.enqueue(packet(ecn), now_us);
  for (int i = 0; i < packets; ++i) queue.dequeue(now_us);
}

}  // namespace

// A classic packet waits for n intervals of 15 ms: p' sums up 0.15 Hz (delay - 15 ms) and 3 Hz
// times the delay. L4S packets are marked with probability 2 p', classic packets with p' squared; 2
// p' > 1 is an overload.
TEST(dualpi2_couples_marks_to_the_square_root_of_drops) {
  constexpr int packets = 10'000;
  for (const auto& [n, base] : std::vector<std::pair<int, double>>{
           {1, 0.045}, {2, 0.09225}, {4, 0.1935}, {6, 0.30375}, {12, 0.6885}}) {
    const bool is_overload = n == 12;
    for (const Ecn ecn : {Ecn::counted, Ecn::capable, Ecn::not_capable}) {
      const auto queue = make_packet_queue("dualpi2:classic_share=0.0000001", 0);
      queue->enqueue(packet(Ecn::not_capable), 0);
      pass(*queue, ecn, packets, n * 15'000);
      const double marks = static_cast<double>(queue->packets_marked()) / packets;
      const double drops = static_cast<double>(queue->take_drops().packets) / packets;
      const bool drops_all = is_overload or ecn == Ecn::not_capable;
      EXPECT_NEAR(drops, drops_all ? base * base : 0, 2e-4);
      if (ecn == Ecn::counted) {
        EXPECT_NEAR(marks, is_overload ? 1 - base * base : 2 * base, 2e-4);
      } else {
        EXPECT_NEAR(marks, drops_all ? 0 : base * base, 2e-4);
      }
    }
  }
}

// The native marking of L4S packets is a ramp around 1 ms, or a step; on a slow link it starts
// above two packets.
TEST(dualpi2_marks_l4s_by_its_own_delay) {
  struct Case {
    const char* queue;
    double mbps;
    Microseconds delay_us;
    double marks;
  };
  for (const auto& [description, mbps, delay_us, marks] :
       std::vector<Case>{{"dualpi2", 100, 800, 0},
                         {"dualpi2", 100, 1000, 0.5},
                         {"dualpi2", 100, 1200, 1},
                         {"dualpi2:min_th=1,range=0", 100, 1000, 0},
                         {"dualpi2:min_th=1,range=0", 100, 1001, 1},
                         {"dualpi2", 1, 24'000, 0},
                         {"dualpi2", 1, 24'100, 1}}) {
    const auto queue = make_packet_queue(description, 0);
    queue->know_capacity(
        [&](Microseconds until_us) { return static_cast<double>(until_us) * mbps / 8; }, never);
    for (int i = 0; i < 1000; ++i) {
      queue->enqueue(packet(Ecn::counted), i * 100'000);
      queue->dequeue(i * 100'000 + delay_us);
    }
    EXPECT_NEAR(static_cast<double>(queue->packets_marked()) / 1000, marks, 0.002);
  }
}

// The rate of a link that ends after 10 s is its mean over these 10 s: 250 ms at 10 Mbit/s are
// 312,500 bytes.
TEST(dualpi2_holds_250_ms_of_a_link_that_ends) {
  const auto queue = make_packet_queue("dualpi2", 0);
  constexpr Microseconds end_us = 10'000'000;
  queue->know_capacity(
      [&](Microseconds until_us) {
        return static_cast<double>(std::min(until_us, end_us)) * 10 / 8;
      },
      end_us);
  for (int i = 0; i < 1000; ++i) queue->enqueue(packet(Ecn::counted), 0);
  EXPECT_EQUAL(queue->packets(), (312'500u + datagram_bytes) / datagram_bytes);
}

TEST(dualpi2_leaves_classic_packets_a_sixteenth) {
  const auto queue = make_packet_queue("dualpi2:packets=600", 0);
  for (int i = 0; i < 350; ++i) {
    queue->enqueue(packet(Ecn::counted), 0);
    queue->enqueue(packet(Ecn::capable), 0);
  }
  EXPECT_EQUAL(queue->take_drops().packets, 100u);
  int classic = 0;
  for (int i = 0; i < 320; ++i) classic += queue->dequeue(0)->ecn == Ecn::capable;
  EXPECT_NEAR(classic, 20, 1);
}

// The first mark halves the window; a round trip with a quarter of the packets marked reduces it by
// an eighth in the end.
TEST(prague_reduces_by_half_the_share_of_marks_once_a_round) {
  Clocked t("prague", {{"initial_window", 20'000}, {"initial_ssthresh", 1}, {"gain", 0.5}});
  t.marked = 1;
  EXPECT_NEAR(t.ack(100), 10'000, 0.01);
  EXPECT_NEAR(t.ack(100), 10'000, 0.01);
  double before = 0;
  for (int round = 0; round < 12; ++round) {
    before = t.window();
    const auto packets = static_cast<int>(t.flight());
    for (int i = 0; i < packets; ++i) {
      t.marked = i % 4 == 0;
      t.ack(100, 1, 100.0 / packets);
    }
  }
  EXPECT_NEAR(t.window() / before, 0.875, 0.005);
}

// The window grows by a packet per round trip, times the square of RTT / 25 ms for shorter RTTs.
TEST(prague_grows_independently_of_short_round_trips) {
  for (const auto& [rtt_ms, growth] :
       std::vector<std::pair<double, double>>{{100, 1}, {25, 1}, {12.5, 0.25}, {5, 0.04}}) {
    Clocked t("prague", {{"initial_window", 40}, {"initial_ssthresh", 1}});
    EXPECT_NEAR(t.round(rtt_ms) - 40, growth, 0.02 * growth);
    EXPECT_NEAR(t.pacing_us(), rtt_ms * 1000 / t.window(), 1e-6);
    t.lose();
    EXPECT_NEAR(t.window(), 20, 0.6);
    t.keepalive();
    EXPECT_EQUAL(t.window(), 2.0);
  }
}

// Section 2.4: the RTT is smoothed with a weight of 1/8; slow start paces at twice the window per
// RTT.
TEST(prague_paces_by_its_smoothed_rtt_and_twice_as_fast_in_slow_start) {
  Clocked t("prague", {{"initial_window", 10}});
  EXPECT_EQUAL(t.ack(Clocked::unmeasured), 11);
  t.ack(100);
  EXPECT_NEAR(t.pacing_us(), 100e3 / 24, 1e-6);
  t.ack(180);
  EXPECT_NEAR(t.pacing_us(), 110e3 / 26, 1e-6);
  t.lose();
  EXPECT_NEAR(t.pacing_us(), 110e3 / 6.5, 1e-6);
}

TEST(prague_grows_by_a_packet_per_round_trip_without_an_rtt_sample) {
  Clocked t("prague", {{"initial_window", 10}, {"initial_ssthresh", 1}});
  EXPECT_NEAR(t.ack(Clocked::unmeasured), 10.1, 1e-9);
}

TEST(prague_counts_more_marks_than_packets_as_all) {
  Clocked t("prague", {{"initial_window", 16}});
  t.marked = 2;
  EXPECT_NEAR(t.ack(100), 8, 1e-9);
}

// As in Linux (prague_update_alpha): before the first mark no queue is known to mark.
TEST(prague_averages_nothing_before_its_first_mark) {
  Clocked t("prague", {{"initial_window", 40}, {"initial_ssthresh", 1}, {"gain", 0.5}});
  for (int i = 0; i < 500; ++i) t.ack(30);
  const double before = t.window();
  t.marked = 1;
  EXPECT_NEAR(t.ack(30), before / 2, 1e-9);
}

// The average is updated when both a round trip and 25 ms have passed, as in Linux
// (prague_should_update_ewma). No packet is marked between the first mark and the second: with a
// gain of 1/2 the first update halves the average, and the second mark reduces the window by half
// of it.
TEST(prague_averages_marks_once_a_round_trip_of_25_ms_at_least) {
  struct Case {
    double window;
    double gap_ms;
    int packets;     // from the first mark to the second
    double average;  // at the second mark
  };
  for (const auto& [window, gap_ms, packets, average] :
       {Case{1000, 1, 1000, 1},    // within a round trip of a second
        Case{1000, 1, 1001, 0.5},  // at its end
        Case{8, 2, 13, 1},         // 26 ms: the second or third round trip
        Case{8, 2, 14, 0.5}}) {
    Clocked t("prague", {{"initial_window", window}, {"initial_ssthresh", 1}, {"gain", 0.5}});
    t.marked = 1;
    EXPECT_NEAR(t.ack(5, 1, gap_ms), window / 2, 1e-9);
    t.marked = 0;
    for (int i = 1; i < packets; ++i) t.ack(5, 1, gap_ms);
    const double before = t.window();
    t.marked = 1;
    EXPECT_NEAR(t.ack(5, 1, gap_ms), before * (1 - average / 2), 1e-9);
  }
}

TEST(prague_averages_a_round_trip_of_one_packet) {
  Clocked t("prague", {{"initial_window", 8}, {"initial_ssthresh", 1}, {"gain", 0.5}});
  t.marked = 1;
  EXPECT_EQUAL(t.ack(30), 4.0);
  t.marked = 0;
  t.skip(7);
  t.ack(30, 0);
  EXPECT_EQUAL(t.ack(30, 1, 30), 4.25);
  t.marked = 1;
  EXPECT_NEAR(t.ack(30, 1, 30), 4.25 * 0.75, 1e-9);
}

TEST(prague_does_not_grow_while_the_application_has_less_to_send) {
  Clocked t("prague", {{"initial_window", 10}});
  t.is_cwnd_limited = false;
  EXPECT_EQUAL(t.ack(100), 10.0);
  t.marked = 1;
  EXPECT_EQUAL(t.ack(100), 5.0);
}

// Marks are counted in acknowledgments instead.
TEST(prague_does_not_take_marks_for_losses) {
  Clocked t("prague", {{"initial_window", 100}});
  EXPECT_EQUAL(t.lose(Loss::Kind::marked), 100);
  EXPECT_EQUAL(t.lose(Loss::Kind::timed_out), 2);
  t.ack(100, 40);
  const double before = t.window();
  EXPECT_EQUAL(t.lose(Loss::Kind::lost), before / 2);
}

TEST(prague_reduces_once_for_a_loss_and_the_marks_of_its_round_trip) {
  Clocked t("prague", {{"initial_window", 100}});
  t.ack(100);
  EXPECT_NEAR(t.lose(), 50.5, 1e-9);
  t.marked = 1;
  EXPECT_NEAR(t.ack(100, 1, 99), 50.5, 1e-9);
  EXPECT_NEAR(t.ack(100, 1, 2), 25.25, 1e-9);
}
