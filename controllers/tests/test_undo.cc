// Spurious losses: detected by timestamps (RFC 3522), and undone (RFC 4015; in Linux,
// tcp_undo_cwnd_reduction).
#include <string>

#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/clocked.hh"
#include "tests/opened.hh"
#include "transport/tcp_receiver.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Clocked;
using kneepoint::test::Opened;

namespace {

constexpr TcpSettings undo{.undo = true};

// Ten segments leave at 100 ms, and an eleventh if RACK probes. Returns the time when the first is
// retransmitted after a timeout.
Microseconds time_out(Opened& t) {
  t.send(100'000);
  std::string sent;
  Microseconds now_us = 0;
  while (t.controller.timeouts() == 0) {
    now_us = t.sender.timer_us();
    t.sender.timer(now_us);
    sent = t.send(now_us);
  }
  EXPECT_EQUAL(sent, "0 ");
  return now_us;
}

}  // namespace

TEST(a_timeout_of_a_late_segment_is_undone) {
  for (const bool has_rack : {false, true}) {
    Opened t({.rack = has_rack, .undo = true});
    const Microseconds now_us = time_out(t) + 50'000;
    t.acknowledge(1, {}, now_us, 100'000);
    EXPECT_EQUAL(t.controller.undone, 1);
    EXPECT_EQUAL(t.controller.losses.size(), 1u);
    // No segment is lost: nine are in flight, or ten with the probe.
    EXPECT_EQUAL(t.send(now_us), has_rack ? "" : "10 ");
    t.acknowledge(2, {}, now_us, 100'000);
    EXPECT_EQUAL(t.send(now_us), "11 ");
    EXPECT_EQUAL(t.controller.undone, 1);
    EXPECT_EQUAL(t.retransmissions, 1u);
  }
}

TEST(a_timeout_whose_segment_was_lost_stands) {
  for (const TcpSettings& settings : {undo, TcpSettings{}}) {
    Opened t(settings);
    const Microseconds again_us = time_out(t);
    t.controller.cwnd = 2;
    t.acknowledge(1, {}, 1'200'000, settings.undo ? again_us : 100'000);
    EXPECT_EQUAL(t.controller.undone, 0);
    EXPECT_EQUAL(t.send(1'200'000), "1 2 ");
  }
}

// The echoed timestamp is older than every retransmission of the first segment; the last left at
// 3.1 s.
TEST(consecutive_timeouts_are_undone_together) {
  Opened t(undo);
  time_out(t);
  t.sender.timer(t.sender.timer_us());
  EXPECT_EQUAL(t.send(3'100'000), "0 ");
  t.acknowledge(1, {}, 3'200'000, 100'000);
  EXPECT_EQUAL(t.controller.undone, 1);
  EXPECT_EQUAL(t.send(3'200'000), "10 ");
}

// The RTT of the late segment counts, as in Linux: SRTT = (7 * 100 + 1050)/8 ms and RTTVAR = (3 *
// 50 + 950)/4 ms.
TEST(a_late_segment_lengthens_the_timeout) {
  Opened t({.min_rto_us = 1000, .undo = true});
  t.send(100'000);
  t.sender.timer(t.sender.timer_us());
  t.send(400'000);
  t.acknowledge(1, {}, 1'150'000, 100'000);
  EXPECT_EQUAL(t.sender.last_rtt_us(), 1'050'000);
  EXPECT_EQUAL(t.sender.timer_us(), 1'150'000 + 218'750 + 4 * 275'000);
}

// Three segments overtake segment 0, which is retransmitted before the original arrives.
TEST(a_recovery_of_a_late_segment_is_undone) {
  for (const bool has_rack : {false, true}) {
    Opened t({.rack = has_rack, .undo = true});
    t.send(100'000);
    t.acknowledge(0, {{1, 4}}, 200'000);
    EXPECT_EQUAL(t.send(200'000), "0 ");
    EXPECT_EQUAL(t.sender.is_recovering(), true);
    t.acknowledge(4, {}, 210'000, 100'000);
    EXPECT_EQUAL(t.sender.is_recovering(), false);
    EXPECT_EQUAL(t.controller.undone, 1);
    EXPECT_EQUAL(t.controller.acks.back().is_recovering, false);
  }
}

// Losses that outlive a recovery begin another recovery, in which acknowledgments arrive for
// segments that were retransmitted before it began.
TEST(a_recovery_after_another_is_not_spurious) {
  Opened t({.rack = true, .undo = true});
  t.send(100'000);
  t.acknowledge(0, {{1, 4}}, 200'000);
  EXPECT_EQUAL(t.send(200'000), "0 ");
  t.controller.cwnd = 8;
  EXPECT_EQUAL(t.send(200'000), "10 ");
  // 10 is lost; the first recovery finds it by the segments sent after it.
  t.controller.cwnd = 12;
  EXPECT_EQUAL(t.send(201'000), "11 12 13 14 ");
  t.acknowledge(0, {{1, 10}, {11, 15}}, 300'000);
  EXPECT_EQUAL(t.send(300'000).starts_with("0 10 "), true);
  t.acknowledge(10, {{11, 15}}, 300'500, 200'000);
  EXPECT_EQUAL(t.controller.losses.size(), 2u);
  t.acknowledge(15, {}, 400'000, 300'000);
  EXPECT_EQUAL(t.controller.undone, 0);
}

// A segment that is truly lost is found lost again by segments sent after it.
TEST(after_a_late_segment_losses_are_found_again) {
  Opened t({.rack = true, .undo = true});
  const Microseconds now_us = time_out(t);
  t.acknowledge(0, {}, now_us + 10'000);
  t.acknowledge(1, {}, now_us + 50'000, 100'000);
  t.acknowledge(1, {{2, 11}}, now_us + 60'000, 100'000);
  EXPECT_EQUAL(t.controller.losses.size(), 2u);
  EXPECT_EQUAL(t.send(now_us + 60'000).starts_with("1 "), true);
}

// RFC 7323, section 4.3.
TEST(a_receiver_echoes_the_segment_that_last_moved_its_edge) {
  TcpReceiver receiver({.delayed_ack_us = 40'000});
  EXPECT_EQUAL(receiver.receive({.number = 0, .sent_us = 10}, false, 100).has_value(), false);
  EXPECT_EQUAL(receiver.receive({.number = 1, .sent_us = 20}, false, 110)->echo_us, 10);
  EXPECT_EQUAL(receiver.receive({.number = 3, .sent_us = 40}, false, 130)->echo_us, 10);
  EXPECT_EQUAL(receiver.receive({.number = 2, .sent_us = 50}, false, 140)->echo_us, 50);
}

// An undo restores the window at the last acknowledgment, and slow start, however many timeouts
// followed.
TEST(controllers_of_tcp_return_to_their_window_and_slow_start) {
  for (const std::string name : {"reno", "cubic", "vegas", "hybla", "bic"}) {
    Clocked flow(name, {});
    flow.is_tcp = true;
    flow.round(100);
    const double before = flow.window();
    for (int i = 0; i < 3; ++i) EXPECT_EQUAL(flow.lose(Loss::Kind::timed_out), 1);
    EXPECT_EQUAL(flow.undo(), before);
    flow.round(100);
    EXPECT_EQUAL(flow.window() > 1.5 * before, true);
    // The same after a single loss.
    const double later = flow.window();
    EXPECT_EQUAL(flow.lose() < later, true);
    EXPECT_EQUAL(flow.undo(), later);
  }
}

// In Linux, bbr_undo_cwnd leaves the window to the end of the recovery, which the undo brings.
TEST(bbr_and_bbr3_return_to_their_window_after_spurious_timeouts) {
  for (const std::string name : {"bbr", "bbr3"}) {
    Bottleneck link(name, {}, 500, 100);
    link.run_until(5);
    const double before = link.window();
    for (int i = 0; i < 2; ++i) {
      link.lose(Loss::Kind::timed_out);
      EXPECT_EQUAL(link.window(), 1);
    }
    link.undo();
    EXPECT_EQUAL(link.window(), before);
  }
}
