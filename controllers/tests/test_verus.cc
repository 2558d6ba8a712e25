// Verus against the rules of Zaki et al., SIGCOMM 2015, sections 4 and 5.
#include <cmath>
#include <utility>
#include <vector>

#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;
constexpr double slope_ms = 5;  // a packet

// A flow whose windows have had 100 ms and 5 ms a packet, past slow start at the given delay.
Clocked profiled(double end_ms = 300, Constants::Values more = {}) {
  more.insert({{"initial_window", 1}, {"slow_start_ms", end_ms - 1}, {"refit_s", 1e3}});
  Clocked flow("verus", more);
  double sent_with = 1;
  for (int i = 0; i < 1000; ++i) {
    sent_with = 1 + std::floor(i / 2.0);  // each acknowledgment lets two leave
    if (100 + slope_ms * sent_with >= end_ms) break;
    flow.ack(100 + slope_ms * sent_with);
  }
  flow.ack(end_ms);
  return flow;
}

// How far the wanted delay moves in an epoch in which the greatest delay was that.
double step_ms(Clocked& flow, double rtt_ms, double gap_ms = 5.001) {
  const double before = flow.window();
  return (flow.ack(rtt_ms, 1, gap_ms) - before) * slope_ms;
}

}  // namespace

TEST(verus_doubles_until_a_delay_ends_slow_start) {
  for (const double limit : {500.0, 200.0}) {
    Clocked flow("verus", {{"initial_window", 4}, {"slow_start_ms", limit}});
    EXPECT_EQUAL(flow.ack(limit - 1, 3), 7);
    EXPECT_EQUAL(flow.ack(limit), 8);
    EXPECT_EQUAL(flow.ack(limit + 1), 9);
    EXPECT_EQUAL(flow.ack(limit, 3) > 10, false);
  }
}

TEST(verus_steps_its_delay_by_the_trend_of_the_greatest) {
  for (const double factor : {1.0, 1.5}) {
    Clocked flow = profiled(
        300, {{"step_ms", 2 * factor}, {"small_step_ms", factor}, {"epoch_ms", 5 * factor}});
    const double gap_ms = 5 * factor + 0.001;
    step_ms(flow, 200, gap_ms);  // the first epoch holds what slow start ended with
    EXPECT_NEAR(step_ms(flow, 200, gap_ms), 2 * factor, 0.02);
    EXPECT_NEAR(step_ms(flow, 150, gap_ms), 2 * factor, 0.02);
    EXPECT_NEAR(step_ms(flow, 299, gap_ms), -factor, 0.02);
    EXPECT_EQUAL(step_ms(flow, 100, gap_ms - 1), 0);  // the epoch goes on
    EXPECT_NEAR(step_ms(flow, 299, 1), -factor, 0.02);
  }
}

TEST(verus_only_falls_beyond_a_ratio_of_its_least_delay) {
  for (const double ratio : {3.0, 6.0}) {
    Clocked flow = profiled(900, {{"ratio", ratio}});
    const double least_ms = 105;
    for (int i = 0; i < 200; ++i) flow.ack(ratio * least_ms + 20, 1, 5.001);
    EXPECT_NEAR(step_ms(flow, ratio * least_ms + 19), -2, 0.05);
    for (int i = 0; i < 60; ++i) flow.ack(ratio * least_ms - 20, 1, 5.001);
    EXPECT_NEAR(step_ms(flow, ratio * least_ms - 21), 2, 0.05);
  }
}

TEST(verus_forgets_a_least_delay_of_ten_minutes_ago) {
  for (const double minutes : {9.9, 10.1}) {
    Clocked flow = profiled(900, {{"ratio", 2}});
    for (int i = 0; i < 100; ++i) flow.ack(300, 1, minutes * 600);
    EXPECT_NEAR(step_ms(flow, 300), minutes > 10 ? 2 : -2, 0.05);
  }
}

TEST(verus_reads_windows_off_its_curve) {
  // Ten packets have had 100 ms, eleven 110 and 130, half of the old value counts, twelve 151: the
  // curve goes through 100, 120 and 151. The smoothed RTT is wanted when slow start ends, 110.613,
  // and a step more.
  for (const auto& [step_ms, window] : std::vector<std::pair<double, double>>{
           {1, 10 + 11.61328125 / 20}, {10, 11 + 0.61328125 / 31}, {100, 11 + 90.61328125 / 31}}) {
    Clocked flow(
        "verus",
        {{"initial_window", 10}, {"slow_start_ms", 150}, {"old_share", 0.5}, {"step_ms", step_ms}});
    for (int i = 0; i < 10; ++i) flow.ack(100);
    for (const double rtt_ms : {110, 130, 151}) flow.ack(rtt_ms);
    EXPECT_NEAR(flow.ack(151), window, exact);
  }
  // Two points are a curve.
  Clocked flow("verus", {{"initial_window", 10}, {"slow_start_ms", 200}});
  for (int i = 0; i < 10; ++i) flow.ack(100);
  flow.ack(250);
  EXPECT_NEAR(flow.ack(250), 10 + 20.75 / 150, exact);  // 118.75 and 2 ms
}

TEST(verus_has_no_window_beyond_its_profile) {
  Clocked flow("verus", {{"initial_window", 16'000}});
  EXPECT_EQUAL(flow.ack(100, 1000), 16'384);
}

TEST(verus_grows_by_a_packet_an_epoch_without_a_profile) {
  Clocked flow("verus", {{"initial_window", 10}, {"slow_start_ms", 200}});
  EXPECT_EQUAL(flow.ack(250), 11);
  EXPECT_EQUAL(flow.ack(250), 12);
  EXPECT_EQUAL(flow.ack(250, 1, 4), 12);
  EXPECT_EQUAL(flow.ack(250, 1, 1.1), 13);
}

TEST(verus_goes_on_from_what_a_loss_leaves) {
  Clocked flow = profiled();
  // Slow start has doubled it since the lost packet left.
  const double lost = std::floor(flow.window() / 2) + 1;
  EXPECT_NEAR(flow.lose(), 0.7 * lost, exact);
  const double left = flow.window();
  EXPECT_NEAR(flow.ack(200), left + 1 / left, exact);
  EXPECT_NEAR(flow.ack(200, 2), left + 1 / left + 2 / (left + 1 / left), exact);
  EXPECT_NEAR(profiled(300, {{"kept", 0.5}}).lose(), 0.5 * lost, exact);
  EXPECT_EQUAL(flow.lose(Loss::Kind::timed_out), 1);
  EXPECT_EQUAL(flow.ack(200), 2);
}

TEST(verus_times_out_after_four_round_trips_within_limits) {
  Clocked flow("verus", {});
  EXPECT_EQUAL(flow.keepalive_ms(), 1000);
  flow.ack(100);
  EXPECT_NEAR(flow.keepalive_ms(), 400, exact);
  for (int i = 0; i < 100; ++i) flow.ack(30);
  EXPECT_EQUAL(flow.keepalive_ms(), 150);
  for (int i = 0; i < 100; ++i) flow.ack(400);
  EXPECT_EQUAL(flow.keepalive_ms(), 1000);
}

TEST(verus_learns_a_profile_and_refits_it) {
  // 100 ms and 2 ms a packet; then the rate halves. Delays rise twice as fast as they fall: the
  // queue swings between its least and the ratio.
  Bottleneck link("verus", {{"ratio", 2}}, 500, 100);
  link.run_until(20);
  double most = 0;
  double sum = 0;
  const auto before = static_cast<double>(link.delivered());
  for (int i = 0; i < 2000; ++i) {
    link.run_until(20 + 0.01 * i);
    most = std::max(most, link.queue() / 500 * 1e3);
    sum += link.queue() / 500 / 2;
  }
  EXPECT_EQUAL(most > 60 and most < 140, true);
  EXPECT_EQUAL(sum > 20 and sum < 110, true);
  EXPECT_NEAR((static_cast<double>(link.delivered()) - before) / 500 / 19.99, 1, 0.02);
}
