// Reno against RFC 5681, and with whole packets against Linux.
#include <string>

#include "tests/check.hh"
#include "tests/clocked.hh"
#include "tests/running.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;
using kneepoint::test::make_controller;

TEST(reno_halves_the_flight_and_returns_to_slow_start_after_a_timeout) {
  const auto reno = make_controller("reno");
  EXPECT_EQUAL(reno->window(), 10);
  for (int i = 0; i < 10; ++i) {
    reno->on_ack({.sequence_number = 0, .sent_ms = 0, .received_ms = 0, .ack_received_ms = 0});
  }
  EXPECT_EQUAL(reno->window(), 20);
  reno->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 16});
  EXPECT_EQUAL(reno->window(), 8);
  reno->on_ack({.sequence_number = 0, .sent_ms = 0, .received_ms = 0, .ack_received_ms = 0});
  EXPECT_NEAR(reno->window(), 8.125, 1e-12);
  reno->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::timed_out, .in_flight = 2});
  EXPECT_EQUAL(reno->window(), 1);
  reno->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 1});
  EXPECT_EQUAL(reno->window(), 2);  // RFC 5681: never below two segments
  reno->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::marked, .in_flight = 30});
  EXPECT_EQUAL(reno->window(), 2);
}

// As in Linux: the window grows by a packet for each window acknowledged, and the remainder counts
// on; a loss halves the window, rounded down, whatever is in flight.
TEST(reno_in_whole_packets_counts_acknowledgments) {
  const auto reno = make_controller(
      "reno", {{"initial_window", 10.7}, {"initial_ssthresh", 10}, {"whole_packets", 1}});
  std::string windows;
  for (int i = 0; i < 8; ++i) {
    reno->on_ack({.sequence_number = 0,
                  .sent_ms = 0,
                  .received_ms = 0,
                  .ack_received_ms = 0,
                  .acknowledged = 3});
    windows += std::to_string(static_cast<int>(reno->window())) + " ";
  }
  EXPECT_EQUAL(windows,
               "10 10 10 11 11 11 12 12 ");  // after 12 packets, and after 9 with 2 that remained
  reno->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 5});
  EXPECT_EQUAL(reno->window(), 6);
  reno->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 9});
  reno->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 9});
  EXPECT_EQUAL(reno->window(), 2);
}

// The window grows by alpha packets for each window acknowledged, but by at most one for each
// packet (tcp_cong_avoid_ai).
TEST(reno_in_whole_packets_may_grow_faster) {
  const auto windows = [](double window, double alpha) {
    Clocked flow("reno", {{"initial_window", window},
                          {"initial_ssthresh", 2},
                          {"alpha", alpha},
                          {"whole_packets", 1}});
    std::string all;
    for (int i = 0; i < 7; ++i) all += std::to_string(static_cast<int>(flow.ack(100))) + " ";
    return all;
  };
  EXPECT_EQUAL(windows(6, 2), "6 6 7 7 7 7 8 ");  // one for 3 packets, then for 3.5
  EXPECT_EQUAL(windows(3, 4), "4 5 5 6 7 7 8 ");
}

// As in Linux: packets acknowledged count for slow start up to ssthresh, and the others for
// congestion avoidance.
TEST(reno_passes_its_threshold_within_an_acknowledgment) {
  Clocked flow("reno", {{"initial_window", 10}, {"initial_ssthresh", 12}});
  EXPECT_NEAR(flow.ack(100, 5), 12 + 3 / 12.0, 1e-9);
  Clocked fast("reno", {{"initial_window", 10}, {"initial_ssthresh", 10}, {"alpha", 3}});
  EXPECT_NEAR(fast.ack(100, 2), 10 + 3 * 2 / 10.0, 1e-9);
}

// RFC 9002, sections 7.3.2 and 7.8.
TEST(reno_grows_neither_in_recovery_nor_where_the_window_is_not_full) {
  for (const double ssthresh : {2.0, 100.0}) {
    Clocked flow("reno", {{"initial_window", 10}, {"initial_ssthresh", ssthresh}});
    flow.is_recovering = true;
    EXPECT_EQUAL(flow.ack(100), 10);
    flow.is_recovering = false;
    flow.is_cwnd_limited = false;
    EXPECT_EQUAL(flow.ack(100), 10);
    flow.is_cwnd_limited = true;
    EXPECT_EQUAL(flow.ack(100) > 10, true);
  }
}

TEST(reno_keeps_beta_of_its_window_and_at_most_the_flight) {
  Clocked flow("reno", {{"initial_window", 100}, {"beta", 0.7}});
  EXPECT_NEAR(flow.lose(), 70, 1e-9);
  EXPECT_NEAR(flow.lose(), 49, 1e-9);  // of the window, with 100 in flight
}
