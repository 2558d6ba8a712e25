#include <sstream>
#include <string>

#include "algorithms/adapter.hh"
#include "algorithms/controller.hh"
#include "tests/check.hh"
#include "tests/opened.hh"
#include "transport/tcp_receiver.hh"
#include "transport/tcp_sender.hh"

using namespace kneepoint;
using kneepoint::test::Halving;
using kneepoint::test::Opened;

namespace {

std::string text(const TcpAcknowledgment& ack) {
  std::ostringstream said;
  said << ack.next_expected;
  for (size_t i = 0; i < ack.block_count; ++i) {
    said << ' ' << ack.blocks[i].begin << '-' << ack.blocks[i].end;
  }
  return said.str();
}

}  // namespace

TEST(an_opened_connection_sends_its_window) {
  Opened t;
  EXPECT_EQUAL(t.send(100'000), "0 1 2 3 4 5 6 7 8 9 ");
  EXPECT_EQUAL(t.sender.timer_us(), 100'000 + 1'000'000);
}

// With three segments sacked above it the hole is lost, and retransmitted at once, whatever the
// window is.
TEST(sack_finds_a_loss_by_three_segments_above_it) {
  Opened t;
  t.send(100'000);
  t.acknowledge(0, {{1, 2}}, 200'000);
  EXPECT_EQUAL(t.send(200'000), "10 ");  // limited transmit
  t.acknowledge(0, {{1, 3}}, 200'000);
  t.send(200'000);
  EXPECT_EQUAL(t.controller.losses.size(), 0u);
  t.acknowledge(0, {{1, 4}}, 201'000);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  EXPECT_EQUAL(t.controller.losses[0].in_flight, 12u);
  EXPECT_EQUAL(t.send(201'000), "0 ");
  // In flight are 4 to 11 and the retransmission: 9 segments. New data leaves when fewer than 5 are
  // in flight.
  t.acknowledge(0, {{1, 8}}, 202'000);
  EXPECT_EQUAL(t.send(202'000), "");
  t.acknowledge(0, {{1, 9}}, 203'000);
  EXPECT_EQUAL(t.send(203'000), "12 ");
  t.acknowledge(12, {}, 300'000);
  EXPECT_EQUAL(t.sender.is_recovering(), false);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
}

TEST(sack_sends_every_hole_again_before_new_data) {
  Opened t;
  t.send(100'000);
  t.acknowledge(0, {{5, 10}}, 200'000);  // five segments above 0 to 4
  EXPECT_EQUAL(t.send(200'000), "0 1 2 3 4 ");
  EXPECT_EQUAL(t.retransmissions, 5u);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
}

// RFC 6675, rules 3 and 4 of NextSeg. Of ten segments 2 and 8 are lost; only one segment is above
// 8.
TEST(sack_repairs_the_end_of_a_flow) {
  Opened t({}, 10);
  t.send(100'000);
  t.acknowledge(2, {}, 200'000);
  t.acknowledge(2, {{3, 6}}, 201'000);
  EXPECT_EQUAL(t.send(201'000), "2 ");  // in flight: 2 and 6 to 9; window 5
  t.acknowledge(2, {{3, 7}}, 202'000);
  EXPECT_EQUAL(t.send(202'000), "9 ");  // rule 4: no other segment may leave; once only
  t.acknowledge(2, {{3, 8}}, 203'000);
  EXPECT_EQUAL(t.send(203'000), "");
  t.acknowledge(2, {{3, 8}, {9, 10}}, 204'000);
  EXPECT_EQUAL(t.send(204'000), "8 ");  // rule 3
  t.acknowledge(2, {{3, 8}, {9, 10}}, 205'000);
  EXPECT_EQUAL(t.send(205'000), "");
  t.acknowledge(8, {{9, 10}}, 301'000);
  t.acknowledge(10, {}, 302'000);
  EXPECT_EQUAL(t.sender.is_done(), true);
  EXPECT_EQUAL(t.retransmissions, 3u);
  EXPECT_EQUAL(t.controller.timeouts(), 0u);
}

// RFC 6937's DeliveredData: a segment that SACK has reported does not count again when it is
// acknowledged cumulatively.
TEST(each_delivery_is_reported_to_a_controller_once) {
  Opened t;
  t.send(100'000);
  t.acknowledge(0, {{1, 4}}, 200'000);  // 1, 2, 3
  EXPECT_EQUAL(t.send(200'000), "0 ");
  t.acknowledge(0, {{1, 9}}, 210'000);  // 4 to 8
  EXPECT_EQUAL(t.send(210'000), "10 11 12 ");
  EXPECT_EQUAL(t.controller.acks.size(), 0u);  // no acknowledgment was cumulative
  t.acknowledge(9, {}, 300'000);               // only 0; 9 is still in flight
  EXPECT_EQUAL(t.controller.acks.back().acknowledged, 1u);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, true);
  t.acknowledge(11, {{12, 13}}, 310'000);  // 9, 10 and 12
  EXPECT_EQUAL(t.sender.is_recovering(), false);
  EXPECT_EQUAL(t.controller.acks.back().acknowledged, 3u);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, false);
  t.acknowledge(13, {}, 320'000);  // 11
  EXPECT_EQUAL(t.controller.acks.back().acknowledged, 1u);
}

// This holds after a timeout, too: the window opens by one segment, not by three.
TEST(a_timeout_does_not_count_sacked_segments_again) {
  Opened t;
  t.send(100'000);
  t.acknowledge(0, {{1, 3}}, 200'000);
  t.sender.timer(t.sender.timer_us());
  t.acknowledge(3, {}, 2'000'000);
  EXPECT_EQUAL(t.controller.acks.back().acknowledged, 1u);
}

// RFC 6582: three duplicates start a recovery; a partial acknowledgment retransmits the next hole
// at once.
TEST(newreno_goes_from_hole_to_hole) {
  Opened t({.sack = false});
  t.send(100'000);
  for (int i = 0; i < 3; ++i) t.acknowledge(0, {}, 200'000);
  EXPECT_EQUAL(t.send(200'000), "0 ");
  t.acknowledge(4, {}, 300'000);
  EXPECT_EQUAL(t.sender.is_recovering(), true);
  EXPECT_EQUAL(t.send(300'000).starts_with("4 "), true);
  t.acknowledge(10, {}, 400'000);
  EXPECT_EQUAL(t.sender.is_recovering(), false);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
}

TEST(a_timeout_sends_all_again_and_doubles) {
  Opened t;
  t.send(100'000);
  const Microseconds first_us = t.sender.timer_us();
  t.sender.timer(first_us);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  EXPECT_EQUAL(t.controller.losses[0].kind == Loss::Kind::timed_out, true);
  EXPECT_EQUAL(t.send(first_us), "0 ");
  EXPECT_EQUAL(t.sender.timer_us(), first_us + 2'000'000);
  t.controller.cwnd = 2;
  t.acknowledge(1, {}, first_us + 100'000);
  EXPECT_EQUAL(t.send(first_us + 100'000), "1 2 ");
}

// Karn's algorithm: a segment sent twice gives no RTT sample.
TEST(a_retransmission_measures_no_rtt) {
  Opened t;
  t.send(100'000);
  t.sender.timer(t.sender.timer_us());
  t.send(1'100'000);
  const uint64_t samples = t.sender.rtt_samples();
  t.acknowledge(1, {}, 1'200'000);
  EXPECT_EQUAL(t.sender.rtt_samples(), samples);
  EXPECT_EQUAL(t.controller.acks[0].rtt_us, -1);
}

TEST(a_lost_syn_is_sent_again_after_a_second) {
  Halving controller;
  TcpSender sender(0, handle_of(controller), {}, 100, nullptr);
  sender.start();
  sender.send(0);
  EXPECT_EQUAL(sender.timer_us(), 1'000'000);
  sender.timer(1'000'000);
  EXPECT_EQUAL(sender.send(1'000'000)->is_syn, true);
  EXPECT_EQUAL(sender.timer_us(), 3'000'000);
}

TEST(a_receiver_delays_every_second_acknowledgment) {
  TcpReceiver receiver({.delayed_ack_us = 40'000});
  EXPECT_EQUAL(receiver.receive({0}, false, 1000).has_value(), false);
  EXPECT_EQUAL(receiver.timer_us(), 41'000);
  EXPECT_EQUAL(text(*receiver.receive({1}, false, 2000)), "2");
  EXPECT_EQUAL(receiver.timer_us(), never);
  receiver.receive({2}, false, 3000);
  EXPECT_EQUAL(text(receiver.timer()), "3");
}

// RFC 2018: the block with the latest segment comes first.
TEST(a_receiver_reports_segments_out_of_order) {
  TcpReceiver receiver({});
  EXPECT_EQUAL(text(*receiver.receive({2}, false, 0)), "0 2-3");
  EXPECT_EQUAL(text(*receiver.receive({5}, false, 0)), "0 5-6 2-3");
  EXPECT_EQUAL(text(*receiver.receive({3}, false, 0)), "0 2-4 5-6");
  EXPECT_EQUAL(text(*receiver.receive({4}, false, 0)), "0 2-6");
  EXPECT_EQUAL(text(*receiver.receive({0}, false, 0)), "1 2-6");
  EXPECT_EQUAL(text(*receiver.receive({1}, false, 0)), "6");
  EXPECT_EQUAL(text(*receiver.receive({3}, false, 0)), "6");
}

// RFC 3168: first transmissions are ECN-capable; SYNs and retransmissions are not.
TEST(new_data_alone_may_be_marked) {
  for (const bool ecn : {false, true}) {
    Halving controller;
    TcpSender sender(0, handle_of(controller), {.ecn = ecn}, 100, nullptr);
    sender.start();
    EXPECT_EQUAL(sender.send(0)->ecn == Ecn::not_capable, true);
    sender.acknowledged({.is_of_syn = true, .window_packets = 1000}, 100'000);
    while (const auto segment = sender.send(100'000))
      EXPECT_EQUAL(segment->ecn == Ecn::capable, ecn);
    sender.timer(sender.timer_us());
    const auto again = sender.send(2'000'000);
    EXPECT_EQUAL(again->is_retransmission, true);
    EXPECT_EQUAL(again->ecn == Ecn::not_capable, true);
  }
}

// Section 6.1.2: marks are reported to the controller once in a round trip and the reduction to the
// receiver with the next new segment; acknowledgments that echo a mark do not open the window.
TEST(marks_are_reported_once_in_a_round_trip) {
  Opened t({.ecn = true});
  t.send(100'000);
  t.echo(1, 200'000);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  EXPECT_EQUAL(t.controller.losses[0].kind == Loss::Kind::marked, true);
  EXPECT_EQUAL(t.controller.losses[0].in_flight, 9u);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, true);
  t.echo(9, 201'000);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  EXPECT_EQUAL(t.sender.send(201'000)->has_reduced, true);
  EXPECT_EQUAL(t.sender.send(201'000)->has_reduced, false);
  t.acknowledge(10, {}, 300'000);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, false);
  t.echo(11, 301'000);
  EXPECT_EQUAL(t.controller.losses.size(), 2u);
}

// Losses in the round trip of a mark are repaired without a second reduction, and marks in the
// round trip of a loss reduce nothing.
TEST(marks_and_losses_of_one_round_trip_reduce_once) {
  Opened marked_first({.ecn = true});
  marked_first.send(100'000);
  marked_first.echo(1, 200'000);
  marked_first.acknowledge(1, {{2, 7}}, 201'000);
  EXPECT_EQUAL(marked_first.sender.is_recovering(), true);
  EXPECT_EQUAL(marked_first.send(201'000).starts_with("1 "), true);
  EXPECT_EQUAL(marked_first.controller.losses.size(), 1u);
  Opened lost_first({.ecn = true});
  lost_first.send(100'000);
  lost_first.acknowledge(0, {{1, 6}}, 200'000);
  lost_first.send(200'000);
  lost_first.echo(6, 300'000);
  EXPECT_EQUAL(lost_first.controller.losses.size(), 1u);
  EXPECT_EQUAL(lost_first.controller.losses[0].kind == Loss::Kind::lost, true);
}

TEST(a_receiver_echoes_a_mark_until_its_sender_has_reduced) {
  TcpReceiver receiver({.delayed_ack_us = 0});
  EXPECT_EQUAL(receiver.receive({0}, false, 0)->echoes_mark, false);
  EXPECT_EQUAL(receiver.receive({1}, true, 0)->echoes_mark, true);
  EXPECT_EQUAL(receiver.receive({2}, false, 0)->echoes_mark, true);
  EXPECT_EQUAL(receiver.receive({.number = 3, .has_reduced = true}, false, 0)->echoes_mark, false);
  EXPECT_EQUAL(receiver.receive({.number = 4, .has_reduced = true}, true, 0)->echoes_mark, true);
}

// Counts replace echoes: the receiver counts marks, and retransmissions are ECN-capable, too (RFC
// 8311, section 4.3). The controller is notified of each mark exactly once.
TEST(counted_marks_are_reported_once) {
  const TcpSettings settings{.sack = false, .delayed_ack_us = 0, .counts_marks = true};
  TcpReceiver receiver(settings);
  for (const uint64_t number : {0u, 1u, 3u}) {
    const auto ack = receiver.receive({number}, number > 0, 0);
    EXPECT_EQUAL(ack->echoes_mark, false);
    EXPECT_EQUAL(ack->marks, number == 3 ? 2 : number);
  }
  Opened t(settings);
  EXPECT_EQUAL(t.sender.send(100'000)->ecn == Ecn::counted, true);
  t.send(100'000);
  const auto tell = [&](uint64_t next, uint64_t marks) {
    t.sender.acknowledged({.next_expected = next, .window_packets = 1000, .marks = marks}, 200'000);
  };
  tell(1, 1);
  for (int i = 0; i < 3; ++i) tell(1, 3);  // duplicates report nothing
  const auto again = t.sender.send(200'000);
  EXPECT_EQUAL(again->is_retransmission and again->ecn == Ecn::counted, true);
  tell(5, 4);
  tell(6, 4);
  std::string marked;
  for (const Ack& ack : t.controller.acks) marked += std::to_string(ack.marked) + " ";
  EXPECT_EQUAL(marked, "1 3 0 ");
  EXPECT_EQUAL(t.controller.losses.size(), 1u);  // the loss that the duplicates show
}

// The controller also receives deliveries that only SACK reports, and PRR bounds only the
// transport's own window.
TEST(a_controller_may_govern_its_recovery) {
  for (const bool is_own : {false, true}) {
    Opened t({.prr = true}, 100, is_own);
    t.send(100'000);
    t.controller.cwnd = 10;
    t.acknowledge(0, {{1, 4}}, 200'000);
    EXPECT_EQUAL(t.controller.losses.size(), 1u);
    EXPECT_EQUAL(t.controller.acks.size(), is_own ? 1u : 0u);
    t.controller.cwnd = 9;  // six segments are in flight
    EXPECT_EQUAL(t.send(200'000), is_own ? "0 10 11 " : "0 10 ");
    if (not is_own) continue;
    EXPECT_EQUAL(t.controller.acks[0].sequence_number, 3u);
    EXPECT_EQUAL(t.controller.acks[0].acknowledged, 3u);
    EXPECT_EQUAL(t.controller.acks[0].lost, 1u);
    EXPECT_EQUAL(t.controller.acks[0].is_recovering, true);
  }
}
