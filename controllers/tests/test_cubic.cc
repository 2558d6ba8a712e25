// CUBIC against RFC 9438, and with whole packets against Linux (net/ipv4/tcp_cubic.c).
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tests/check.hh"
#include "tests/clocked.hh"
#include "tests/running.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;
using kneepoint::test::make_controller;

namespace {

constexpr double exact = 1e-9;

Clocked avoiding(double window, Parameters::Values more = {}) {
  more.insert({{"initial_window", window}, {"initial_ssthresh", 2}});
  return {"cubic", more};
}

// Acknowledgments of one packet until the window grows, after a loss at 1024 packets left 1000; all
// but the first follow `wait_ms` later.
int packets_for_one(double wait_ms) {
  Clocked flow = avoiding(1024, {{"whole_packets", 1}, {"beta", 1000.0 / 1024}});
  flow.lose();
  flow.ack(100);
  flow.wait(wait_ms);
  int packets = 1;
  while (flow.window() < 1001) {
    flow.ack(150, 1, 0);  // the min RTT counts
    ++packets;
  }
  return packets;
}

}  // namespace

// RFC 9438: from W_max = 2304, beta 0.7, C 0.4: K = 12.0 s, W(10 s) = 2300.8, W(15 s) = 2314.8.
TEST(cubic_grows_by_its_cubic_function) {
  const auto cubic = make_controller(
      "cubic", {{"initial_window", 2304}, {"initial_ssthresh", 2304}, {"fast_convergence", 0}});
  cubic->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 2304});
  EXPECT_NEAR(cubic->window(), 2304 * 0.7, 1e-9);
  const auto window_after = [&](int64_t from_us, int64_t to_us) {
    // Fifty acknowledgments a millisecond: enough to follow the function.
    for (int64_t now_us = from_us; now_us < to_us; now_us += 20) {
      cubic->on_ack({.sequence_number = 0,
                     .sent_ms = 0,
                     .received_ms = 0,
                     .ack_received_ms = 0,
                     .now_us = now_us,
                     .rtt_us = 1000});
    }
    return cubic->window();
  };
  EXPECT_NEAR(window_after(1, 10'000'001), 2300.8, 0.5);
  EXPECT_NEAR(window_after(10'000'001, 15'000'001), 2314.8, 0.5);
}

// The epoch begins with the first acknowledgment after the recovery: the function's time excludes
// the five seconds of recovery.
TEST(cubic_counts_from_the_end_of_recovery) {
  const auto cubic = make_controller(
      "cubic", {{"initial_window", 2304}, {"initial_ssthresh", 2304}, {"fast_convergence", 0}});
  cubic->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 2304});
  for (int64_t now_us = 1; now_us < 15'000'001; now_us += 20) {
    cubic->on_ack({.sequence_number = 0,
                   .sent_ms = 0,
                   .received_ms = 0,
                   .ack_received_ms = 0,
                   .now_us = now_us,
                   .rtt_us = 1000,
                   .is_recovering = now_us < 5'000'001});
    if (now_us < 5'000'001) EXPECT_EQUAL(cubic->window(), 2304 * 0.7);
  }
  EXPECT_NEAR(cubic->window(), 2300.8, 0.5);
}

// RFC 9438, section 4.8: K = 0 and W_max = cwnd after a timeout, with either arithmetic.
TEST(cubic_begins_anew_after_a_timeout) {
  Clocked flow("cubic", {{"initial_window", 100}, {"initial_ssthresh", 2}});
  flow.lose(Loss::Kind::lost);  // W_max 100
  flow.ack(100);
  const double before = flow.window();
  flow.lose(Loss::Kind::timed_out);
  while (flow.window() < 0.7 * before - 1e-9) flow.ack(100, 1, 0.1);
  // Reno's window exceeds a cubic function that begins at the present window: alpha = .529 in this
  // epoch.
  flow.ack(100, 1, 0.1);
  const double began = flow.window();
  double expected = began;
  for (int i = 0; i < 100; ++i) {
    flow.ack(100, 1, 0.1);
    expected += 0.9 / 1.7 / expected;
  }
  // With W_max 100 and its K the window would have grown by 3 packets in these 10 ms with 100
  // acknowledgments.
  EXPECT_NEAR(flow.window(), expected, 0.01);
}

// Section 4.4: from W_max = 1000 with beta 0.7, K = cbrt(300/0.4) s.
TEST(cubic_steps_towards_its_function_of_a_round_trip_later) {
  const auto wanted = [](double t) { return 0.4 * std::pow(t - std::cbrt(750), 3) + 1000; };
  struct Case {
    double t;
    uint64_t acknowledged;
    double target;
  };
  for (const auto& [t, acknowledged, target] : {Case{1, 1, wanted(1.1)},
                                                {5, 2, wanted(5.1)},
                                                {13, 1, wanted(13.1)},
                                                {30, 3, 1.5 * (700 + 0.9 / 1.7 / 700)}}) {
    Clocked flow = avoiding(1000);
    flow.lose();
    // At first Reno's window is greater.
    const double before = flow.ack(100);
    EXPECT_NEAR(before, 700 + 0.9 / 1.7 / 700, exact);
    flow.wait(t * 1000 - 1);
    const auto packets = static_cast<double>(acknowledged);
    EXPECT_NEAR(flow.ack(100, acknowledged), before + (target - before) / before * packets, 1e-6);
  }
}

TEST(cubic_never_shrinks_as_it_grows) {
  Clocked flow = avoiding(1000);
  flow.lose();
  flow.ack(100);
  flow.wait(1000);
  const double ahead = flow.ack(100, 2000);
  EXPECT_EQUAL(ahead > 950, true);
  EXPECT_EQUAL(flow.ack(100), ahead);           // the function's value is 796
  EXPECT_EQUAL(flow.ack(100, 200'000), ahead);  // Reno's window is 810
}

// Section 4.3: alpha = 3 (1 - beta)/(1 + beta) up to the window of the loss, then 1.
TEST(cubic_is_no_slower_than_reno) {
  Clocked flow = avoiding(20, {{"c", 1e-6}});
  flow.lose();
  double window = 14;
  for (int i = 0; i < 400; ++i) {
    const uint64_t packets = 1 + i % 3;
    window += (window >= 20 ? 1 : 0.9 / 1.7) * static_cast<double>(packets) / window;
    EXPECT_NEAR(flow.ack(100, packets, 0.1), window, exact);
  }
  EXPECT_EQUAL(window > 25, true);
}

TEST(cubic_begins_at_its_own_window_without_a_loss) {
  Clocked flow = avoiding(1000);
  const double before = flow.ack(100);
  flow.wait(2999);
  EXPECT_NEAR(flow.ack(100), before + (1000 + 0.4 * std::pow(3.1, 3) - before) / before, 1e-6);
}

// Section 4.7: after losses at 1000 and 700, W_max is 700 (1 + 0.7)/2 with fast convergence and 700
// without.
TEST(cubic_has_fast_convergence) {
  for (const bool gives_way : {false, true}) {
    Clocked flow = avoiding(1000, {{"fast_convergence", gives_way ? 1 : 0}});
    flow.lose();
    flow.lose();
    const double before = flow.ack(100);
    flow.wait(1999);
    const double max = gives_way ? 595 : 700;
    const double target = 0.4 * std::pow(2.1 - std::cbrt((max - 490) / 0.4), 3) + max;
    EXPECT_NEAR(flow.ack(100), before + (target - before) / before, 1e-6);
  }
}

TEST(cubic_halts_in_a_recovery_and_where_its_window_bounds_nothing) {
  for (const double ssthresh : {2.0, 100.0}) {
    Clocked flow("cubic", {{"initial_window", 20}, {"initial_ssthresh", ssthresh}});
    flow.is_recovering = true;
    EXPECT_EQUAL(flow.ack(100), 20);
    flow.is_recovering = false;
    flow.is_cwnd_limited = false;
    EXPECT_EQUAL(flow.ack(100), 20);
    flow.is_cwnd_limited = true;
    EXPECT_EQUAL(flow.ack(100) > 20, true);
  }
}

TEST(cubic_starts_slowly_up_to_seven_tenths_after_a_timeout) {
  Clocked flow("cubic", {{"initial_window", 20}});
  EXPECT_EQUAL(flow.ack(100, 2), 22);
  EXPECT_EQUAL(flow.lose(Loss::Kind::timed_out), 1);
  EXPECT_EQUAL(flow.ack(100, 10), 11);
  EXPECT_NEAR(flow.ack(100, 10), 15.4, exact);
  Clocked min = avoiding(2.5);
  EXPECT_EQUAL(min.lose(), 2);
}

TEST(cubic_can_leave_slow_start_when_the_rtt_grows) {
  for (const double hystart : {0.0, 1.0}) {
    Clocked flow("cubic", {{"initial_window", 40}, {"hystart", hystart}});
    for (int i = 0; i < 40; ++i) flow.ack(100, 1, 3);
    EXPECT_EQUAL(flow.window(), 80);
    for (int i = 0; i < 9; ++i) flow.ack(120, 1, 3);
    // The acknowledgment that shows the growth is the first that does not count in full.
    EXPECT_EQUAL(flow.window() == 89, hystart == 0);
    EXPECT_EQUAL(flow.window() < 88.1, hystart == 1);
  }
}

// With beta 1000/1024: bic_scale x 10 = 410, K = cbrt(24 x 2^40/410), times in 1/1024 s.
TEST(cubic_can_count_in_whole_packets) {
  for (const int64_t wait_ms : {0, 32, 1000, 3900, 6000, 10'000, 30'000}) {
    const auto k = static_cast<int64_t>(std::cbrt(24 * 0x1p40 / 410));
    const int64_t distance = (wait_ms + 100) * 1024 / 1000 - k;
    const int64_t change = 410 * std::abs(distance * distance * distance) >> 40;
    const int64_t target = 1024 + (distance < 0 ? -change : change);
    EXPECT_EQUAL(packets_for_one(static_cast<double>(wait_ms)),
                 std::max<int64_t>(1000 / (target - 1000), 2));
  }
  EXPECT_EQUAL(packets_for_one(31), packets_for_one(0));  // Linux computes again after HZ/32
}

TEST(cubic_in_whole_packets_computes_once_a_millisecond) {
  Clocked flow = avoiding(1024, {{"whole_packets", 1}, {"beta", 1000.0 / 1024}});
  flow.lose();
  EXPECT_EQUAL(flow.ack(100, 500), 1001);  // to a target of 1002
  EXPECT_EQUAL(flow.ack(100, 499, 0), 1001);
  EXPECT_EQUAL(flow.ack(100, 1, 0), 1002);
  // Beyond the target, growth by a packet takes a hundred windows.
  EXPECT_EQUAL(flow.ack(100, 10'000, 0), 1022);
  EXPECT_EQUAL(flow.ack(100, 102'199), 1022);
  EXPECT_EQUAL(flow.ack(100, 1, 0), 1023);
}

TEST(cubic_in_whole_packets_grows_by_a_twentieth_at_least_before_a_loss) {
  for (const bool has_timed_out : {false, true}) {
    Clocked flow = avoiding(has_timed_out ? 143 : 100, {{"whole_packets", 1}});
    if (has_timed_out) {
      flow.lose(Loss::Kind::timed_out);
      flow.ack(100, 200);
    }
    EXPECT_EQUAL(flow.window(), 100);
    EXPECT_EQUAL(flow.ack(100, 19), 100);
    EXPECT_EQUAL(flow.ack(100), 101);
  }
}

// With beta 717/1024 Reno's window grows by a packet in 15/8 windows. The epoch starts at 70
// packets, with a K so late that CUBIC's function adds a packet per 70 acknowledged.
TEST(cubic_in_whole_packets_is_no_slower_than_reno) {
  struct Case {
    uint64_t packets;
    double window;
  };
  const auto epoch = [](double window) {
    Clocked flow = avoiding(window, {{"whole_packets", 1}, {"c", 0.001}, {"beta", 717.0 / 1024}});
    flow.lose();
    return flow;
  };
  for (const auto& [packets, window] : {Case{262, 70 + 262 / 70},
                                        {263, 70 + 263 / 35},
                                        {1000, 70 + 1000 / 10},
                                        {5000, 70 + 5000 / 2}}) {
    EXPECT_EQUAL(epoch(100).ack(1, packets), window);
  }
  EXPECT_EQUAL(epoch(2).ack(1, 3), 2);
  EXPECT_EQUAL(epoch(2).ack(1, 4), 4);
  // The count continues over acknowledgments: 60 exceed the 35 packets that are needed later.
  Clocked flow = epoch(100);
  EXPECT_EQUAL(flow.ack(1, 60), 70);
  EXPECT_EQUAL(flow.ack(1, 203, 40), 70 + 1 + 203 / 35);
}
