// RACK-TLP, computed by hand from sections 6.2, 6.3 and 7 of RFC 8985. The RTT is 100 ms
// throughout.
#include "tests/check.hh"
#include "tests/opened.hh"
#include "transport/rack.hh"

using namespace kneepoint;
using kneepoint::test::Opened;

namespace {

constexpr TcpSettings rack{.rack = true};
constexpr TcpSettings rack_of_linux{
    .min_rto_us = 200'000, .min_rto_margin_us = 200'000, .rack = true};

}  // namespace

// Section 6.2, steps 4 and 5: RACK waits a quarter of the min RTT for segments sent earlier.
TEST(rack_waits_for_segments_that_may_be_reordered) {
  Opened t(rack);
  t.send(100'000);
  t.acknowledge(0, {{2, 3}}, 200'000);
  EXPECT_EQUAL(t.send(200'000), "10 ");
  EXPECT_EQUAL(t.sender.timer_us(), 100'000 + 100'000 + 25'000);
  t.sender.timer(225'000);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  EXPECT_EQUAL(t.send(225'000), "0 ");
  t.acknowledge(0, {{2, 9}}, 226'000);  // in flight: 9, 10 and 0; window 5
  EXPECT_EQUAL(t.send(226'000), "1 11 ");
}

TEST(rack_does_not_wait_after_three_duplicates) {
  Opened t(rack);
  t.send(100'000);
  t.acknowledge(0, {{2, 4}}, 200'000);
  EXPECT_EQUAL(t.controller.losses.size(), 0u);
  t.acknowledge(0, {{2, 5}}, 201'000);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  EXPECT_EQUAL(t.send(201'000), "0 ");
}

// Step 3: after reordering has been seen, three duplicates prove no loss. 5 arrives before 4, and
// neither is retransmitted.
TEST(rack_waits_longer_once_something_was_reordered) {
  Opened t(rack);
  t.send(100'000);
  t.acknowledge(4, {{5, 6}}, 200'000);
  t.acknowledge(6, {}, 201'000);
  t.send(201'000);
  t.acknowledge(6, {{7, 10}}, 202'000);
  EXPECT_EQUAL(t.controller.losses.size(), 0u);
  EXPECT_EQUAL(t.sender.timer_us(), 100'000 + 102'000 + 25'000);
  t.acknowledge(10, {}, 203'000);
  EXPECT_EQUAL(t.controller.losses.size(), 0u);
  EXPECT_EQUAL(t.retransmissions, 0u);
}

// RACK judges a retransmission like any segment, here by 10, which was sent later.
TEST(rack_finds_a_lost_retransmission) {
  for (const bool has_rack : {true, false}) {
    Opened t({.rack = has_rack});
    t.send(100'000);
    t.acknowledge(0, {{1, 4}}, 200'000);
    EXPECT_EQUAL(t.send(200'000), "0 ");
    t.acknowledge(0, {{1, 8}}, 205'000);  // in flight: 8, 9 and 0; window 5
    EXPECT_EQUAL(t.send(205'000), "10 11 ");
    t.acknowledge(0, {{1, 10}}, 206'000);
    EXPECT_EQUAL(t.send(206'000), "12 13 ");
    t.acknowledge(0, {{1, 11}}, 305'000);
    EXPECT_EQUAL(t.send(305'000), has_rack ? "0 14 " : "14 ");
    EXPECT_EQUAL(t.controller.losses.size(), 1u);  // one recovery, one reduction
  }
}

// An RTT below the min RTT belongs to the original and not to its retransmission.
TEST(rack_learns_nothing_from_an_original_that_was_sent_again) {
  for (const bool is_original : {true, false}) {
    Scoreboard board(true);
    const Recovery recovery(false);
    RetransmissionTimer timer({});
    timer.measured(100'000);
    RackDetection detection(board, recovery, timer);
    const auto send = [&](Microseconds now_us) { detection.sent(board.send(now_us), now_us); };
    const auto acknowledge = [&](const TcpAcknowledgment& ack, Microseconds now_us) {
      const bool is_progress = ack.next_expected > board.una();
      detection.acknowledged(ack, board.take(ack), is_progress, now_us);
    };
    for (const Microseconds sent_us : {0, 140'000, 145'000}) send(sent_us);
    acknowledge({.next_expected = 1}, 100'000);
    board.send_again(2, 150'000);
    detection.sent(2, 150'000);
    acknowledge({.next_expected = 1, .block_count = 1, .blocks = {{{2, 3}}}},
                is_original ? 249'000 : 255'000);
    // Otherwise 1 is lost after the last RTT and a quarter of the min RTT.
    EXPECT_EQUAL(detection.timer_us(), is_original ? never : 140'000 + 105'000 + 25'000);
  }
}

// Section 7.2: the probe is due after two smoothed RTTs. Section 7.3: it retransmits the last
// segment. From the SACK of the probe RACK infers that the segment before it is lost.
TEST(a_probe_finds_a_lost_tail) {
  Opened t(rack, 10);
  t.send(100'000);
  t.acknowledge(8, {}, 200'000);
  EXPECT_EQUAL(t.sender.timer_us(), 200'000 + 2 * 100'000);
  t.sender.timer(400'000);
  EXPECT_EQUAL(t.send(400'000), "9 ");
  EXPECT_EQUAL(t.sender.timer_us(), 400'000 + 1'000'000);  // the RTO: one probe only
  t.acknowledge(8, {{9, 10}}, 500'000);
  EXPECT_EQUAL(t.send(500'000), "8 ");
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  EXPECT_EQUAL(t.controller.timeouts(), 0u);
}

// Section 7.2: after a SACK RACK finds the losses, and no probe is sent.
TEST(nothing_is_probed_beside_a_hole) {
  Opened t(rack, 10);
  t.send(100'000);
  t.acknowledge(8, {}, 200'000);
  t.acknowledge(8, {{9, 10}}, 201'000);
  EXPECT_EQUAL(t.sender.timer_us(), 100'000 + 101'000 + 25'000);
  t.sender.timer(226'000);
  EXPECT_EQUAL(t.send(226'000), "8 ");
  EXPECT_EQUAL(t.sender.timer_us(), 226'000 + 1'000'000);
}

// In Linux, unlike in RFC 6298, the timer restarts when the first segment is retransmitted, and
// while segments sent before this retransmission are acknowledged.
TEST(the_timer_gives_the_first_retransmission_its_time) {
  for (const bool has_rack : {true, false}) {
    Opened t({.rack = has_rack});
    t.send(100'000);
    t.acknowledge(0, {{1, 4}}, 200'000);
    EXPECT_EQUAL(t.send(200'000), "0 ");
    EXPECT_EQUAL(t.sender.timer_us(), (has_rack ? 200'000 : 100'000) + 1'000'000);
    t.acknowledge(0, {{1, 10}}, 206'000);
    EXPECT_EQUAL(t.send(206'000), "10 11 12 13 ");
    EXPECT_EQUAL(t.sender.timer_us(), (has_rack ? 206'000 : 100'000) + 1'000'000);
    t.acknowledge(0, {{1, 11}}, 299'000);
    EXPECT_EQUAL(t.sender.timer_us(), (has_rack ? 206'000 : 100'000) + 1'000'000);
  }
}

// While a hole keeps the left edge, SACKs show that the RTT has grown from 100 to 500 ms: SRTT 150
// ms, RTTVAR 137.5 ms.
TEST(sacks_measure_the_rtt) {
  Opened t(rack_of_linux);
  t.send(100'000);
  t.acknowledge(0, {{1, 4}}, 600'000);
  EXPECT_EQUAL(t.send(600'000), "0 ");
  EXPECT_EQUAL(t.sender.timer_us(), 600'000 + 150'000 + 4 * 137'500);
}

// Section 7.3: a probe with new data repairs no loss, and the window does not hold it back.
TEST(a_probe_is_new_data_where_there_is_any) {
  Opened t(rack);
  t.send(100'000);
  EXPECT_EQUAL(t.sender.timer_us(), 100'000 + 2 * 100'000);
  t.sender.timer(300'000);
  EXPECT_EQUAL(t.send(300'000), "10 ");
  t.acknowledge(11, {}, 400'000);
  EXPECT_EQUAL(t.controller.losses.size(), 0u);
}

// Section 7.2: the receiver of a single segment may delay its acknowledgment by 200 ms.
TEST(a_probe_of_one_segment_waits_for_a_delayed_acknowledgment) {
  Opened t(rack, 10);
  t.send(100'000);
  t.acknowledge(9, {}, 200'000);
  EXPECT_EQUAL(t.sender.timer_us(), 200'000 + 2 * 100'000 + 200'000);
  Opened soon(rack_of_linux, 1);  // at most the RTO, 100 ms + 4 * 50 ms
  soon.send(100'000);
  EXPECT_EQUAL(soon.sender.timer_us(), 100'000 + 300'000);
  soon.sender.timer(400'000);
  EXPECT_EQUAL(soon.send(400'000), "0 ");
  EXPECT_EQUAL(soon.controller.timeouts(), 0u);
  EXPECT_EQUAL(soon.sender.timer_us(), 400'000 + 300'000);
}

// Section 7.4: a probe has repaired a loss if segments after it are acknowledged without an earlier
// duplicate of the probe's acknowledgment.
TEST(a_loss_that_a_probe_repairs_reduces_the_window) {
  for (const bool came_twice : {false, true}) {
    Opened t(rack, 10);
    t.send(100'000);
    t.acknowledge(9, {}, 200'000);
    t.sender.timer(600'000);
    EXPECT_EQUAL(t.send(600'000), "9 ");
    t.acknowledge(10, {}, 650'000);
    if (came_twice) t.acknowledge(10, {}, 700'000);
    t.sender.offer(1);
    EXPECT_EQUAL(t.send(800'000), "10 ");
    t.acknowledge(11, {}, 900'000);
    EXPECT_EQUAL(t.controller.losses.size(), came_twice ? 0u : 1u);
    EXPECT_EQUAL(t.sender.loss_events(), came_twice ? 0u : 1u);
  }
}

// Section 6.3: 2 was sent 50 ms before the timeout and may still arrive.
TEST(a_timeout_spares_segments_sent_recently) {
  for (const bool has_rack : {true, false}) {
    TcpSettings settings = rack_of_linux;
    settings.rack = has_rack;
    Opened t(settings, 2);
    t.send(100'000);
    t.acknowledge(1, {}, 200'000);  // RTTVAR = 3/4 50 ms, and RTO = 100 ms + 200 ms
    if (has_rack) t.sender.timer(500'000);
    EXPECT_EQUAL(t.send(500'000), has_rack ? "1 " : "");
    const Microseconds timeout_us = t.sender.timer_us();
    EXPECT_EQUAL(timeout_us, has_rack ? 800'000 : 500'000);
    t.sender.offer(1);
    EXPECT_EQUAL(t.send(timeout_us - 50'000), "2 ");
    t.sender.timer(timeout_us);
    EXPECT_EQUAL(t.controller.timeouts(), 1u);
    EXPECT_EQUAL(t.send(timeout_us), "1 ");
    t.acknowledge(2, {}, timeout_us + 20'000);
    EXPECT_EQUAL(t.send(timeout_us + 20'000), has_rack ? "" : "2 ");
  }
}

// As in Linux: 10, sent in the recovery of 0 and 5, is lost, and not yet repaired when this
// recovery ends.
TEST(a_loss_that_outlives_a_recovery_begins_another) {
  Opened t(rack);
  t.send(100'000);
  t.acknowledge(0, {{1, 5}, {6, 10}}, 200'000);
  EXPECT_EQUAL(t.send(200'000), "0 5 10 11 12 ");
  t.acknowledge(5, {{6, 10}, {11, 13}}, 300'000);
  t.send(300'000);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  t.acknowledge(10, {{11, 13}}, 400'000);
  EXPECT_EQUAL(t.controller.losses.size(), 2u);
}
