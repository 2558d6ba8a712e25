// Controllers, stepped through acknowledgments computed by hand.
#include <cstdint>
#include <string>

#include "tests/check.hh"
#include "tests/running.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;
using kneepoint::test::make_controller;

namespace {

// A controller and the acknowledgments that reach it, one millisecond apart.
class Steps {
 public:
  Steps(const std::string& name, const Parameters::Values& parameters)
      : controller_(make_controller(name, parameters)) {}

  double ack(int64_t rtt_ms) {
    ++now_ms_;
    controller_->on_ack({.sequence_number = sequence_number_++,
                         .sent_ms = now_ms_ - rtt_ms,
                         .received_ms = now_ms_ - rtt_ms / 2,
                         .ack_received_ms = now_ms_});
    return controller_->window();
  }
  void sent(uint64_t last) { controller_->on_sent(last, now_ms_); }
  double keepalive() {
    controller_->on_keepalive({.now_ms = now_ms_, .now_us = now_ms_ * 1000, .in_flight = 0});
    return controller_->window();
  }
  double window() const { return controller_->window(); }
  double keepalive_ms() const { return controller_->keepalive_ms(); }

 private:
  LoadedController controller_;
  uint64_t sequence_number_ = 0;
  int64_t now_ms_ = 10'000;
};

constexpr double exact = 1e-12;

}  // namespace

TEST(fixed_window_never_moves) {
  Steps steps("fixed_window", {{"window", 12}});
  EXPECT_EQUAL(steps.window(), 12);
  EXPECT_EQUAL(steps.ack(40), 12);
  EXPECT_EQUAL(steps.ack(4000), 12);
  EXPECT_EQUAL(steps.keepalive(), 12);
  EXPECT_EQUAL(steps.keepalive_ms(), 1000);
}

TEST(aimd_timeout_grows_by_acks_and_shrinks_by_silence) {
  Steps steps("aimd_timeout", {{"alpha", 1}, {"beta", 4}});
  EXPECT_EQUAL(steps.window(), 10);
  EXPECT_NEAR(steps.ack(400), 10.1, exact);
  EXPECT_NEAR(steps.ack(40), 10.1 + 1 / 10.1, exact);
  EXPECT_NEAR(steps.keepalive(), (10.1 + 1 / 10.1) / 4, exact);
  EXPECT_EQUAL(steps.keepalive(), 1);
  EXPECT_EQUAL(steps.keepalive_ms(), 80);
}

TEST(aimd_rtt_shrinks_on_every_late_ack) {
  Steps steps("aimd_rtt", {{"initial_window", 8}, {"alpha", 2}, {"decrease_factor", 0.5}});
  EXPECT_NEAR(steps.ack(200), 8.25, exact);  // an RTT at the limit is not late
  EXPECT_NEAR(steps.ack(201), 4.125, exact);
  EXPECT_NEAR(steps.ack(201), 2.0625, exact);
  EXPECT_NEAR(steps.ack(201), 1.03125, exact);
  EXPECT_EQUAL(steps.ack(201), 1);
  EXPECT_EQUAL(steps.ack(100), 3);
}

TEST(aimd_rtt_may_shrink_once_for_a_window_of_late_acks) {
  Steps steps("aimd_rtt", {{"initial_window", 8}, {"decrease_factor", 0.5}, {"once_per_rtt", 1}});
  steps.sent(7);  // 0 to 7 are in flight
  EXPECT_NEAR(steps.ack(201), 4, exact);
  EXPECT_NEAR(steps.ack(201), 4, exact);  // packet 1 left before the decrease
  for (int i = 2; i < 8; ++i) steps.ack(201);
  EXPECT_NEAR(steps.window(), 4, exact);
  EXPECT_NEAR(steps.ack(201), 2, exact);  // packet 8 left after the decrease
}

TEST(delay_threshold_moves_additively) {
  Steps steps("delay_threshold", {{"alpha", 1}, {"beta", 20}, {"rtt_threshold_ms", 100}});
  EXPECT_NEAR(steps.ack(99), 10.1, exact);
  EXPECT_NEAR(steps.ack(100), 10.1 - 20 / 10.1, exact);  // an RTT at the threshold is above it
  Steps floor("delay_threshold", {{"initial_window", 2}, {"beta", 20}});
  EXPECT_EQUAL(floor.ack(1000), 1);
}

TEST(rocinante_compares_with_its_average_and_returns_to_the_min_rtt) {
  Steps steps("rocinante", {{"alpha", 2}, {"beta", 5}, {"ewma_weight", 0.5}});
  // Average (50 + 46) / 2 = 48, limit 67.2: grow.
  EXPECT_NEAR(steps.ack(46), 10.2, exact);
  // Average (48 + 152) / 2 = 100, limit 140: shrink, and set the average to the min RTT, 46.
  EXPECT_NEAR(steps.ack(152), 10.2 - 5 / 10.2, exact);
  // Average (46 + 80) / 2 = 63, limit 88.2: grow.
  const double before = steps.window();
  EXPECT_NEAR(steps.ack(80), before + 2 / before, exact);
}

TEST(rocinante_forgets_rtts_older_than_2000_samples) {
  Steps steps("rocinante",
              {{"alpha", 1}, {"beta", 5}, {"ewma_weight", 0.5}, {"rtt_allowance", 1.2}});
  steps.ack(20);
  for (int i = 0; i < 1999; ++i) steps.ack(60);
  // Average (60 + 140) / 2 = 100, limit 120: shrink. The sample of 20 ms has just left the history,
  // so that the average returns to 60, and the window grows with the next sample (average (60 + 66)
  // / 2 = 63, limit 75.6).
  steps.ack(140);
  const double before = steps.window();
  EXPECT_NEAR(steps.ack(66), before + 1 / before, exact);

  Steps remembering("rocinante",
                    {{"alpha", 1}, {"beta", 5}, {"ewma_weight", 0.5}, {"rtt_allowance", 1.2}});
  remembering.ack(20);
  for (int i = 0; i < 1998; ++i) remembering.ack(60);
  // One sample earlier the min RTT is still 20: average (20 + 66) / 2 = 43, limit 51.6, and the
  // window stays at its minimum.
  remembering.ack(140);
  EXPECT_EQUAL(remembering.ack(66), 1);
}

TEST(timely_follows_thresholds_and_gradient) {
  const Parameters::Values parameters{{"alpha", 0.5},      {"beta", 0.4},      {"delta", 1},
                                      {"t_low_ms", 60},    {"t_high_ms", 150}, {"min_rtt_ms", 50},
                                      {"hyperactive_n", 5}};
  Steps steps("timely", parameters);
  EXPECT_EQUAL(steps.ack(50), 11);                          // below t_low
  EXPECT_NEAR(steps.ack(90), 11 * (1 - 0.4 * 0.4), exact);  // d = 20, g = 0.4
  const double w1 = steps.window();
  EXPECT_NEAR(steps.ack(80), w1 * (1 - 0.4 * 0.1), exact);  // d = 10 - 5 = 5, g = 0.1
  const double w2 = steps.window();
  EXPECT_NEAR(steps.ack(70), w2 + 1, exact);                        // d = 2.5 - 5 = -2.5
  EXPECT_NEAR(steps.ack(200), (w2 + 1) * (1 - 0.4 * 0.25), exact);  // above t_high
}

TEST(timely_is_hyperactive_from_the_fifth_ack_without_a_rising_rtt) {
  Steps steps("timely", {{"delta", 1}, {"hyperactive_n", 5}});
  for (const double expected : {11.0, 12.0, 13.0, 14.0, 19.0, 24.0}) {
    EXPECT_EQUAL(steps.ack(100), expected);
  }
  EXPECT_EQUAL(steps.ack(59), 25);  // below t_low: the count restarts
  EXPECT_EQUAL(steps.ack(59), 26);
}

TEST(timely_can_follow_the_gradient_below_t_low_as_well) {
  Steps steps("timely", {{"delta", 1},
                         {"alpha", 1},
                         {"beta", 0.5},
                         {"t_low_ms", 60},
                         {"min_rtt_ms", 50},
                         {"gradient_below_low", 1}});
  EXPECT_EQUAL(steps.ack(50), 12);                          // grows by both rules
  EXPECT_NEAR(steps.ack(55), 13 * (1 - 0.5 * 0.1), exact);  // d = 5, g = 0.1
  const double before = steps.window();
  EXPECT_NEAR(steps.ack(75), before * (1 - 0.5 * 0.4), exact);  // above t_low: by the gradient
}

TEST(timely_can_round_up_to_whole_packets) {
  Steps steps("timely", {{"initial_rate", 3}, {"delta", 0.25}, {"round_up", 1}});
  EXPECT_EQUAL(steps.window(), 3);
  EXPECT_EQUAL(steps.ack(50), 4);  // 3.25
  for (int i = 0; i < 3; ++i) EXPECT_EQUAL(steps.ack(50), 4);
  EXPECT_EQUAL(steps.ack(50), 5);  // 4.25
}

TEST(timely_never_falls_below_its_least_rate) {
  Steps steps("timely", {{"initial_rate", 2}, {"min_rate", 1.5}, {"beta", 1}});
  EXPECT_EQUAL(steps.ack(1500), 1.5);
}

TEST(bounded_aimd_is_divided_at_its_boundary_and_by_silence) {
  Steps steps("bounded_aimd", {{"initial_window", 11}, {"alpha", 0.5}, {"beta", 4}});
  EXPECT_EQUAL(steps.ack(40), 11.5);
  EXPECT_EQUAL(steps.ack(40), 3);  // reaches 12
  EXPECT_EQUAL(steps.ack(4000), 3.5);
  EXPECT_EQUAL(steps.keepalive(), 1);  // 3.5 / 4 is below the minimum window
}

TEST(bounded_aimd_with_beta_1_stays_at_its_boundary) {
  Steps steps("bounded_aimd", {{"initial_window", 11.9}, {"alpha", 0.5}, {"beta", 1}});
  EXPECT_EQUAL(steps.ack(40), 12);
  EXPECT_EQUAL(steps.ack(40), 12);
  EXPECT_EQUAL(steps.keepalive(), 12);
}

TEST(bounded_aimd_can_overshoot_its_boundary_by_a_step) {
  Steps steps("bounded_aimd",
              {{"initial_window", 11}, {"alpha", 0.7}, {"beta", 4}, {"overshoot", 1}});
  EXPECT_NEAR(steps.ack(40), 11.7, exact);
  EXPECT_NEAR(steps.ack(40), 12.4, exact);
  EXPECT_NEAR(steps.ack(40), 3.1, exact);  // divided, and nothing added
  EXPECT_NEAR(steps.ack(40), 3.8, exact);
}

TEST(bounded_aimd_can_round_up_to_whole_packets) {
  Steps steps("bounded_aimd", {{"initial_window", 3}, {"alpha", 0.25}, {"round_up", 1}});
  EXPECT_EQUAL(steps.window(), 3);
  EXPECT_EQUAL(steps.ack(50), 4);  // 3.25
}

TEST(bounded_aimd_has_the_details_that_its_report_leaves_open) {
  Steps steps("bounded_aimd", {{"initial_window", 4},
                               {"alpha", 2},
                               {"beta", 4},
                               {"per_rtt", 1},
                               {"min_window", 2},
                               {"rtt_limit_ms", 100}});
  EXPECT_EQUAL(steps.ack(100), 4.5);
  EXPECT_EQUAL(steps.ack(101), 2);
}

TEST(delay_band_holds_inside_its_band) {
  Steps steps("delay_band", {{"increase", 2}, {"decrease", 5}, {"gain", 0.5}});
  EXPECT_NEAR(steps.ack(60), 10.2, exact);              // srtt 60
  EXPECT_NEAR(steps.ack(100), 10.2, exact);             // srtt 80: the upper edge is inside
  EXPECT_NEAR(steps.ack(120), 10.2, exact);             // srtt 100: inside
  EXPECT_NEAR(steps.ack(102), 10.2 - 5 / 10.2, exact);  // srtt 101
  Steps floor("delay_band", {{"initial_window", 2}, {"decrease", 20}});
  EXPECT_EQUAL(floor.ack(1000), 1);
}

TEST(aimd_soph_doubles_its_increase_near_the_min_rtt) {
  Steps steps("aimd_soph", {{"alpha", 2}, {"gain", 0.5}});
  EXPECT_EQUAL(steps.keepalive_ms(), 200);
  EXPECT_NEAR(steps.ack(40), 10.2 + 2 / 10.2, exact);  // srtt 40 < 60
  EXPECT_EQUAL(steps.keepalive_ms(), 80);
  const double before = steps.window();
  EXPECT_NEAR(steps.ack(80), before + 2 / before, exact);  // srtt 60: not below 60
  const double wide = steps.window();
  EXPECT_NEAR(steps.keepalive(), wide * 0.75, exact);
  for (int i = 0; i < 10; ++i) steps.keepalive();
  EXPECT_EQUAL(steps.window(), 1);
}

TEST(aimd_soph_is_silent_for_a_millisecond_at_least) {
  Steps steps("aimd_soph", {{"timeout_factor", 0.5}});
  steps.ack(1);
  EXPECT_EQUAL(steps.keepalive_ms(), 1);
}

TEST(fast_tcp_keeps_alpha_packets_in_the_queue) {
  Steps steps("fast_tcp", {{"gamma", 0.5}, {"alpha", 4}, {"gain", 0.5}});
  EXPECT_NEAR(steps.ack(40), 0.5 * 10 + 0.5 * (10 + 4), exact);
  EXPECT_NEAR(steps.ack(120), 0.5 * 12 + 0.5 * (12 * 40.0 / 80 + 4), exact);
  Steps floor("fast_tcp", {{"gamma", 1}, {"alpha", 0.5}, {"gain", 0}});
  floor.ack(1);
  EXPECT_EQUAL(floor.ack(1000), 1);  // 10.5 / 1000 + 0.5 is below 1
}

// An RTT below the clock's resolution counts as 1 ms.
TEST(fast_tcp_stays_finite_where_no_time_passes) {
  Steps steps("fast_tcp", {{"gamma", 0.5}, {"alpha", 4}, {"gain", 0.5}});
  EXPECT_NEAR(steps.ack(0), 0.5 * 10 + 0.5 * (10 + 4), exact);
}

TEST(tangra_corrects_in_proportion_to_the_distance_from_its_target) {
  Steps steps("tangra", {{"t", 1.5},
                         {"t_bound", 2},
                         {"t_high", 3},
                         {"gain", 0},
                         {"increase", 4},
                         {"small_decrease", 8},
                         {"large_decrease", 16}});
  EXPECT_NEAR(steps.ack(40), 10 + 4 * 0.5 / 10, exact);     // ratio 1
  EXPECT_NEAR(steps.ack(60), 10.2, exact);                  // ratio 1.5: hold
  EXPECT_NEAR(steps.ack(80), 10.2, exact);                  // ratio 2: hold
  EXPECT_NEAR(steps.ack(100), 10.2 - 8 * 1 / 10.2, exact);  // ratio 2.5
  const double before = steps.window();
  EXPECT_NEAR(steps.ack(140), before - 16 * 2 / before, exact);  // ratio 3.5
}

TEST(parameters_are_checked) {
  expect_refused([] { make_controller("fixed_windows", {}); }, "unknown controller");
  expect_refused([] { make_controller("fixed_window", {{"windwo", 3}}); },
                 "fixed_window has no parameter windwo; it has: keepalive_ms, window");
  expect_refused([] { make_controller("fixed_window", {{"window", 0}}); },
                 "window = 0 is outside [1, inf]");
  expect_refused([] { make_controller("fixed_window", {{"window", 1.5}}); },
                 "window = 1.5 must be a whole number");
}
