#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/adapter.hh"
#include "tests/check.hh"
#include "tests/running.hh"
#include "transport/contest_sender.hh"
#include "transport/tcp_sender.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;
using kneepoint::test::handle_of;

namespace {

// A window of three packets, and a gap of 500 us by default.
class Paced final : public Controller {
 public:
  explicit Paced(double gap = 500, Parameters parameters = Parameters())
      : Controller(parameters, 1000), gap_us(gap) {}
  double window() const override { return 3; }
  double pacing_us() const override { return gap_us; }

  double gap_us;
};

// A window of a part of a packet, without pacing.
class PartOfAPacket final : public Controller {
 public:
  explicit PartOfAPacket(double packets, Parameters parameters = Parameters())
      : Controller(parameters, 1000), packets_(packets) {}
  double window() const override { return packets_; }

 private:
  double packets_;
};

class Unpaced final : public Controller {
 public:
  explicit Unpaced(Parameters parameters = Parameters()) : Controller(parameters, 1000) {}
  double window() const override { return 3; }
};

}  // namespace

TEST(a_pacer_keeps_gaps_exactly_and_catches_up_on_half_of_one) {
  Pacer pacer;
  pacer.sent(0, 250.5);
  EXPECT_EQUAL(pacer.next_us(), 251);
  pacer.sent(251, 250.5);
  EXPECT_EQUAL(pacer.next_us(), 501);  // no fraction is lost
  pacer.sent(601, 250.5);
  EXPECT_EQUAL(pacer.next_us(), 752);  // 100 us late: the next packet is on time
  pacer.sent(2000, 250.5);
  EXPECT_EQUAL(pacer.next_us(), 2126);
  pacer.sent(2001, 250.5);
  EXPECT_EQUAL(pacer.next_us(), 2252);  // early: a gap from now
}

TEST(a_paced_sender_sends_one_datagram_a_gap) {
  Paced controller;
  ContestSender sender(0, handle_of(controller), nullptr);
  sender.start(0);
  EXPECT_EQUAL(sender.window_is_open(), true);
  EXPECT_EQUAL(sender.held_back_until_us(), never);
  sender.sent(0);
  EXPECT_EQUAL(sender.window_is_open(), false);
  EXPECT_EQUAL(sender.held_back_until_us(), 500);
  EXPECT_EQUAL(sender.wakes_us(), 500);
  sender.acknowledged(0, 100, 100, [] {
    return Ack{.sequence_number = 0, .sent_ms = 0, .received_ms = 0, .ack_received_ms = 0};
  });
  EXPECT_EQUAL(sender.window_is_open(), false);  // an acknowledgment is no reason to send earlier
  sender.release(499);
  EXPECT_EQUAL(sender.window_is_open(), false);
  for (const Microseconds now_us : {500, 1000, 1500}) {
    sender.release(now_us);
    EXPECT_EQUAL(sender.window_is_open(), true);
    sender.sent(now_us);
  }
  sender.release(2000);
  EXPECT_EQUAL(sender.window_is_open(), false);  // three are in flight
  EXPECT_EQUAL(sender.wakes_us(), sender.idle_deadline_us());
}

// Gaps longer than the keepalive interval do not add up, however long the silence is.
TEST(a_keepalive_restarts_the_gap) {
  Paced controller(4e6);
  ContestSender sender(0, handle_of(controller), nullptr);
  sender.start(0);
  sender.sent(0);
  for (int second = 1; second <= 30; ++second) {
    sender.keepalive(second * 1'000'000);
    sender.sent(second * 1'000'000);
  }
  EXPECT_EQUAL(sender.held_back_until_us(), 34'000'000);
  sender.acknowledged(30, 30'100'000, 30'100'000, [] {
    return Ack{.sequence_number = 30, .sent_ms = 0, .received_ms = 0, .ack_received_ms = 0};
  });
  controller.gap_us = 0;
  sender.keepalive(31'000'000);
  sender.sent(31'000'000);
  EXPECT_EQUAL(sender.held_back_until_us(), never);
  EXPECT_EQUAL(sender.window_is_open(), true);
}

TEST(a_sender_that_is_not_paced_fills_its_window) {
  Unpaced controller;
  ContestSender sender(0, handle_of(controller), nullptr);
  sender.start(0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQUAL(sender.window_is_open(), true);
    sender.sent(0);
  }
  EXPECT_EQUAL(sender.window_is_open(), false);
  EXPECT_EQUAL(sender.held_back_until_us(), never);
  EXPECT_EQUAL(sender.wakes_us(), 1'000'000);
}

TEST(a_paced_tcp_sender_sends_one_segment_a_gap) {
  Paced controller;
  TcpSender sender(0, handle_of(controller), {}, 100, nullptr);
  sender.start();
  sender.send(0);
  sender.acknowledged({.is_of_syn = true, .window_packets = 1000}, 10'000);
  EXPECT_EQUAL(sender.send(10'000)->number, 0u);
  EXPECT_EQUAL(sender.send(10'000).has_value(), false);
  EXPECT_EQUAL(sender.held_back_until_us(), 10'250);  // the connection has waited: half a gap
  EXPECT_EQUAL(sender.send(10'249).has_value(), false);
  EXPECT_EQUAL(sender.send(10'250)->number, 1u);
  EXPECT_EQUAL(sender.send(10'250).has_value(), false);
  EXPECT_EQUAL(sender.send(10'750)->number, 2u);
  EXPECT_EQUAL(sender.send(11'250).has_value(), false);
  EXPECT_EQUAL(sender.held_back_until_us(), never);  // the window is full
  sender.timer(sender.timer_us());
  EXPECT_EQUAL(sender.send(2'000'000)->is_retransmission, true);
  EXPECT_EQUAL(sender.send(2'000'000).has_value(), false);
  EXPECT_EQUAL(sender.held_back_until_us() != never, true);  // retransmissions are paced, too
}

// Swift, algorithm 1: a quarter of a packet in 10 ms is a packet in 40 ms. A window of 0 sends one
// packet per minute.
TEST(a_tcp_window_below_a_packet_sends_one_and_pauses) {
  for (const auto& [packets, pause_us] : std::vector<std::pair<double, Microseconds>>{
           {0.25, 40'000}, {0.4, 25'000}, {0, 60'000'000}}) {
    PartOfAPacket controller(packets);
    TcpSender sender(0, handle_of(controller), {}, 100, nullptr);
    sender.start();
    sender.send(0);
    sender.acknowledged({.is_of_syn = true, .window_packets = 1000}, 10'000);
    Microseconds now_us = 1'000'000'000;  // after a wait longer than any pause
    for (uint64_t number = 0; number < 5; ++number) {
      EXPECT_EQUAL(sender.send(now_us)->number, number);
      EXPECT_EQUAL(sender.send(now_us).has_value(), false);  // one packet is in flight
      sender.acknowledged({.next_expected = number + 1, .window_packets = 1000}, now_us + 10'000);
      EXPECT_EQUAL(sender.send(now_us + 10'000).has_value(), false);
      const Microseconds next_us = sender.held_back_until_us();
      // A late sender catches up by half a gap.
      EXPECT_EQUAL(next_us - now_us, number == 0 ? pause_us / 2 : pause_us);
      now_us = next_us;
    }
  }
}

TEST(nonsense_as_a_gap_is_the_controllers_failure) {
  for (const double gap_us : {std::numeric_limits<double>::quiet_NaN(), -1.0, 1e9}) {
    Paced controller(gap_us);
    ContestSender sender(0, handle_of(controller), nullptr);
    sender.start(0);
    expect_refused([&] { sender.sent(0); }, "the pacing became");
  }
}
