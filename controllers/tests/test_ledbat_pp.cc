// LEDBAT++ against the arithmetic of section 4 of draft-irtf-iccrg-ledbat-plus-plus.
#include <cmath>
#include <vector>

#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

}  // namespace

TEST(ledbat_pp_gain_follows_the_base_rtt) {
  // GAIN = 1/min(16, ceil(2 TARGET/base)), in slow start as well.
  const auto gain = [](double base_ms) {
    Clocked flow("ledbat_pp", {{"initial_window", 4}});
    return flow.ack(base_ms) - 4;
  };
  EXPECT_NEAR(gain(150), 1, exact);
  EXPECT_NEAR(gain(120), 1, exact);
  EXPECT_NEAR(gain(100), 1 / 2.0, exact);
  EXPECT_NEAR(gain(50), 1 / 3.0, exact);
  EXPECT_NEAR(gain(8), 1 / 15.0, exact);
  EXPECT_NEAR(gain(2), 1 / 16.0, exact);
  Clocked flow("ledbat_pp", {{"initial_window", 4}, {"initial_ssthresh", 5}});
  EXPECT_NEAR(flow.ack(100, 2), 5, exact);
  EXPECT_NEAR(flow.ack(100, 2), 5 + 2 * 0.5 / 5, exact);
}

TEST(ledbat_pp_forgets_a_base_of_ten_minutes_ago) {
  for (const auto& [minutes, gain] : {std::pair{9.9, 1 / 3.0}, {10.1, 1 / 2.0}}) {
    Clocked flow("ledbat_pp", {{"initial_window", 10}});
    const double before = flow.ack(50);
    EXPECT_NEAR(flow.ack(100, 1, minutes * 60e3), before + gain, exact);
  }
}

TEST(ledbat_pp_leaves_its_first_slow_start_at_three_quarters_of_the_target) {
  const auto left = [](double rtt_ms) {
    Clocked flow("ledbat_pp", {{"initial_window", 10}});
    for (int i = 0; i < 4; ++i) flow.ack(100);
    EXPECT_NEAR(flow.window(), 12, exact);
    for (int i = 0; i < 3; ++i) flow.ack(rtt_ms);
    EXPECT_NEAR(flow.window(), 13.5, exact);  // the minimum of four is still 100
    flow.ack(rtt_ms);
    EXPECT_NEAR(flow.window(), 14, exact);
    return flow.ack(rtt_ms) - 14;
  };
  EXPECT_NEAR(left(144.9), 0.5, exact);
  EXPECT_NEAR(left(145.1), 0.5 / 14, exact);
}

TEST(ledbat_pp_decreases_in_proportion_to_window_and_excess) {
  const auto change = [](double rtt_ms, Parameters::Values more = {}) {
    more.insert({{"initial_window", 20}, {"initial_ssthresh", 2}});
    Clocked flow("ledbat_pp", more);
    flow.ack(100);
    EXPECT_NEAR(flow.window(), 20 + 0.5 / 20, exact);
    for (int i = 0; i < 3; ++i) flow.ack(rtt_ms);
    const double before = flow.window();
    return (flow.ack(rtt_ms) - before) * before / before;
  };
  const double window = 20 + 4 * 0.5 / 20;
  EXPECT_NEAR(change(159), 0.5 / window, 1e-4);  // below its target
  EXPECT_NEAR(change(166), (0.5 - 0.1 * window) / window, 1e-4);
  EXPECT_NEAR(change(172, {{"decrease", 0.5}}), (0.5 - 0.1 * window) / window, 1e-4);
  EXPECT_NEAR(change(300), -0.5, 1e-4);  // at most half of the window in a round trip
}

TEST(ledbat_pp_halves_at_a_loss) {
  Clocked flow("ledbat_pp", {{"initial_window", 20}});
  EXPECT_NEAR(flow.lose(), 10, exact);
  flow.is_recovering = true;
  EXPECT_NEAR(flow.ack(100), 10, exact);
  flow.is_recovering = false;
  EXPECT_NEAR(flow.ack(100), 10.05, exact);
  EXPECT_NEAR(flow.keepalive(), 1, exact);
  EXPECT_NEAR(flow.ack(100), 2, exact);  // 1.5 is below the minimum window, two
  EXPECT_NEAR(flow.ack(100), 2.5, exact);
  for (int i = 0; i < 3; ++i) flow.lose();
  EXPECT_NEAR(flow.window(), 2, exact);
}

TEST(ledbat_pp_slows_down_to_find_its_base) {
  Bottleneck link("ledbat_pp", {}, 500, 100);
  std::vector<double> begins;
  std::vector<double> returns;  // the slow start after a slowdown begins
  std::vector<double> ends;     // the window before the slowdown is reached
  double left = 0;
  double last = link.window();
  for (double s = 1.2; s < 120; s += 0.001) {
    link.run_until(s);
    const double window = link.window();
    if (window == 2 and last > 3) {
      begins.push_back(s);
      left = last;
    }
    if (begins.size() > returns.size() and window > 2) returns.push_back(s);
    if (returns.size() > ends.size() and window >= left) ends.push_back(s);
    last = window;
  }
  EXPECT_EQUAL(ends.size() > 3, true);
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    // Two round trips: the first drains a queue of up to 60 ms, the second is without a queue.
    const double pause = returns[i] - begins[i];
    EXPECT_EQUAL(pause > 2 * 0.102 and pause < 2 * 0.104 + 0.065, true);
    EXPECT_NEAR((begins[i + 1] - ends[i]) / (ends[i] - begins[i]), 9, 0.1);
  }
}

TEST(ledbat_pp_slows_down_two_round_trips_after_its_first_slow_start) {
  Clocked flow("ledbat_pp", {{"initial_window", 20}, {"initial_ssthresh", 20}});
  flow.ack(100);
  for (int i = 0; i < 199; ++i) EXPECT_EQUAL(flow.ack(100) > 19, true);
  EXPECT_EQUAL(flow.ack(100, 1, 1.5), 2);
}

TEST(ledbat_pp_fills_a_link_to_its_target) {
  Bottleneck link("ledbat_pp", {{"slowdown_factor", 100}}, 500, 100);
  link.run_until(60);
  // The target, 60 ms, is 30 packets; above it the window decreases.
  double max = 0;
  for (int i = 0; i < 1000; ++i) {
    link.run_until(60 + 0.01 * i);
    max = std::max(max, link.queue());
  }
  EXPECT_NEAR(max, 30, 3);
}
